import { describe, expect, test } from 'vitest';
import { findSecrets } from '../../../src/store/secrets/scan.ts';
import { credentials, nearMisses } from '../../support/credentials.ts';

describe('a credential is found:', () => {
  test.each(credentials())('$name', ({ text }) => {
    expect(findSecrets(text)).toHaveLength(1);
    expect(findSecrets(`# Notes\n\nSome words. ${text}\n\nMore words.\n`)).toHaveLength(1);
  });
});

describe('no credential is seen in:', () => {
  test.each(nearMisses())('$name', ({ text }) => {
    expect(findSecrets(text)).toEqual([]);
  });
});
