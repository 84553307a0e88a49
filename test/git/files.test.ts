import { describe, expect, onTestFinished, test } from 'vitest';
import { NodeFiles } from '../../src/git/files.ts';
import { Served } from '../support/served.ts';
import { create } from './create.ts';

test.each(['lstat', 'lstatExact', 'read', 'list', 'realpath'] as const)(
  'what lies below a file is absent: %s',
  (look) => {
    const repo = create();
    const files = new NodeFiles();
    expect(files[look](repo.path('README.md/a'))).toBeUndefined();
    expect(files[look](repo.path('README.md/a/b'))).toBeUndefined();
  },
);

describe('a file in the place of the memory', () => {
  test.each([
    ['activate_project', {}, { error: 'cannot_create_project_dir' }],
    [
      'write_memory_bank_file',
      { filename: 'a.md', content: 'a' },
      { error: { code: 'server_error' } },
    ],
    ['create_features', { features: [{ slug: 'a', name: 'A' }] }, { error: { type: 'db_error' } }],
  ])('is named by %s, and stays', async (tool, args, body) => {
    const repo = create();
    repo.write('.memory-bank', 'mine');
    const served = new Served(repo);
    onTestFinished(() => served.close());
    const reply = await served.try(tool, args);
    expect(reply).toMatchObject({ error: 'cannot_create', body });
    expect(reply.text).toMatch(/\.memory-bank is a file where a folder should be.*out of the way/);
    expect(repo.read('.memory-bank')).toBe('mine');
    expect(repo.status()).toEqual(['?? .memory-bank']);
  });
});
