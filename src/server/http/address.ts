import { isIP } from 'node:net';

/** The names by which every machine calls itself. */
export const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

/** Whether an address can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
