/**
 * Sets a client up as a user does.
 *
 * @param {string} client the name that `init --clients` takes.
 * @returns {import('./entries.js').Entry['setUp']}
 */
export const byInit = (client) => (scene) => {
  scene.memoryBank('init', '--clients', client, '--hooks', '--yes');
};
