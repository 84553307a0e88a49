import type { GitConfig } from './config.ts';
import { isTrue } from './config-text.ts';

const group = 0o660;
const everybody = 0o664;

/** The bits of `core.sharedRepository` for `sharedMode`; 0 if the umask decides. */
export function sharedBits(config: GitConfig): number {
  const value = config.get('core.sharedrepository') ?? 'umask';
  if (value === 'group') return group;
  if (/^(?:all|world|everybody)$/.test(value)) return everybody;
  if (!/^[0-7]+$/.test(value)) return isTrue(value) ? group : 0;
  const mode = Number.parseInt(value, 8);
  if (mode === 0) return 0;
  if (mode === 1) return group;
  if (mode === 2) return everybody;
  // Git refuses a mode without the rights of the owner.
  return (mode & 0o600) === 0o600 ? -(mode & 0o666) : 0;
}
