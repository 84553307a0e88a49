import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

// A bundled bench is not next to its source, but the current directory is always the repository.
const places = [resolve(import.meta.dirname, '../..'), process.cwd()].flatMap((top) =>
  ['../shared/corpus', '../../shared/corpus'].map((place) => resolve(top, place)),
);

/** The folder with real-world data; if it is undefined, its tests are skipped. */
export const corpus: string | undefined = places.find((place) => existsSync(place));
