import { isIP } from 'node:net';

/** The names of the loopback interface in a Host header. */
export const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

/** Whether only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** Whether nobody can change what is read from a URL: it is HTTPS, or of this machine. */
export function isSecure(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || (protocol === 'http:' && loopbackNames.includes(hostname));
}
