import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

// A bundled bench lies elsewhere than its source; every run begins in the repository.
const places = [resolve(import.meta.dirname, '../..'), process.cwd()].flatMap((top) =>
  ['../shared/corpus', '../../shared/corpus'].map((place) => resolve(top, place)),
);

/** The folder with real-world data, or undefined where it is not there: tests of it are skipped then. */
export const corpus: string | undefined = places.find((place) => existsSync(place));
