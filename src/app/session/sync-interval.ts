/** The usual pause between automatic exchanges without changes, in milliseconds. */
export const usualInterval = 60_000;

const variable = 'MEMORY_BANK_SYNC_INTERVAL';
const longest = 86_400;

/**
 * Reads the pause between automatic exchanges without changes from the environment, in milliseconds; 0 for
 * no such exchanges.
 *
 * @param warn receives an invalid value.
 */
export function syncInterval(
  env: { readonly [name: string]: string | undefined },
  warn: (message: string) => void,
): number {
  const value = env[variable]?.trim();
  // A client may leave its variable for an empty setting as it is.
  if (value === undefined || value === '' || value.startsWith('${')) return usualInterval;
  if (/^\d{1,5}$/.test(value) && Number(value) <= longest) return Number(value) * 1000;
  warn(`${variable} is ignored: it is not a number of seconds from 0 to ${longest}: ${value}.`);
  return usualInterval;
}
