// Loaded by Node.js on the Windows bench: Wine 8 refuses the option of a socket that `fetch` sets on each
// connection, so that every call of it would fail.
const { Socket } = require('node:net');

Socket.prototype.setKeepAlive = function setKeepAlive() {
  return this;
};
