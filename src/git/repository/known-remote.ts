import { join } from 'node:path';
import type { Files } from '../disk/file-layer.ts';
import { maxConfigSize } from './config.ts';
import { parseConfig } from './config-text.ts';

/** Whether the configuration of a repository names a remote, where `git remote add` writes it. */
export function namesRemote(files: Files, commonDir: string): boolean {
  const text = files.read(join(commonDir, 'config'), maxConfigSize)?.toString('utf8') ?? '';
  return (
    text.includes('remote') &&
    parseConfig(text).some(({ key }) => /^remote\..+\.(?:push)?url$/s.test(key))
  );
}
