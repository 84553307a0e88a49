import type { Change } from '../../core/memory/commit-log.ts';

/** The signs of the kinds of changes in a list. */
export const changeSigns: { readonly [kind in Change['change']]: string } = {
  added: '+',
  changed: '~',
  moved: '>',
  removed: '-',
};
