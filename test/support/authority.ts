import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A certificate authority of its own, and a certificate of it for this machine. */
export interface Authority {
  /** The path of its own certificate. */
  readonly file: string;
  readonly key: Buffer;
  readonly cert: Buffer;
}

/** Makes a certificate authority in a folder; undefined without openssl. */
export function makeAuthority(folder: string): Authority | undefined {
  mkdirSync(folder);
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const subject = (name: string) => ['-subj', `/CN=${name}`];
  writeFileSync(at('names'), 'subjectAltName=IP:127.0.0.1\n');
  try {
    openssl(
      ...['req', '-x509', ...newKey, ...subject('Our authority'), '-days', '2'],
      ...['-keyout', at('ca.key'), '-out', at('ca.pem')],
    );
    openssl(
      ...['req', ...newKey, ...subject('127.0.0.1'), '-keyout', at('key'), '-out', at('request')],
    );
    openssl(
      ...['x509', '-req', '-in', at('request'), '-CA', at('ca.pem'), '-CAkey', at('ca.key')],
      ...['-CAcreateserial', '-days', '2', '-extfile', at('names'), '-out', at('cert')],
    );
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    console.log('"HTTPS" was not tried: it needs openssl.');
    return undefined;
  }
  return { file: at('ca.pem'), key: readFileSync(at('key')), cert: readFileSync(at('cert')) };
}
