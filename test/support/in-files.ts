import { test } from 'vitest';
import { hasTables } from './repo.ts';

/** Declares a test whose subject is refs in files; it is skipped where new repositories have tables. */
export const inFiles = test.extend<{ form: undefined }>({
  form: [
    async ({ skip }, use) => {
      skip(hasTables, 'its subject is refs in files');
      await use(undefined);
    },
    { auto: true },
  ],
});
