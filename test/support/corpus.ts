import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

const places = ['../shared/corpus', '../../shared/corpus'].map((place) =>
  resolve(import.meta.dirname, '../..', place),
);

/** The folder with real-world data, or undefined where it is not there: tests of it are skipped then. */
export const corpus: string | undefined = places.find((place) => existsSync(place));
