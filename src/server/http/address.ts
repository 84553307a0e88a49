import { isIP } from 'node:net';

/** The names of the loopback interface in a Host header. */
export const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

/** Whether only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
