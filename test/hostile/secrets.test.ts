import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findSecrets } from '../../src/store/secrets/scan.ts';
import { credentials } from '../support/credentials.ts';
import { deep, sample } from '../support/depth.ts';
import { type Served, serve } from '../support/http.ts';
import { Stage } from './stage.ts';

const text = credentials(11).find(({ name }) => name === 'GitHub token')?.text ?? '';
const token = findSecrets(text)[0]?.text ?? '';

/** Finds the files in a folder that contain the token, in their name or their bytes. */
function holding(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => {
    const place = join(folder, path);
    return (
      path.includes(token) || (statSync(place).isFile() && readFileSync(place).includes(token))
    );
  });
}

describe('a credential is refused by every toolset, and is in no file:', () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = new Stage();
    await stage.succeed('initialize_memory_bank', { path: '.' });
    await stage.succeed('activate_project');
    for (const bank_type of ['project', 'global']) {
      await stage.succeed('activate', { bank_type, bank_id: 'x' });
    }
  });
  afterEach(() => stage.close());

  const decision = { title: 'x', context: 'x', decision: 'x' };
  const entry = { category: 'patterns', key: 'x', value: 'x' };
  const bank = { bank_type: 'project', bank_id: 'x', target_file: 'x.md', operation: 'append' };
  const cases: readonly (readonly [what: string, tool: string, args: object])[] = [
    ['content', 'write_memory_bank_file', { filename: 'x.md', content: `use ${token}` }],
    ['name of a file', 'write_memory_bank_file', { filename: `${token}.md`, content: 'x' }],
    ['title', 'log_decision', { ...decision, title: token }],
    ['item of a list', 'log_decision', { ...decision, alternatives: ['x', token] }],
    ['progress', 'track_progress', { action: 'x', description: token }],
    ['key', 'memory_write', { ...entry, key: token }],
    ['value', 'memory_write', { ...entry, value: token }],
    ['reason', 'memory_write', { ...entry, reason: token }],
    ['metadata', 'memory_write', { ...entry, metadata: { deep: [{ x: token }] } }],
    ['key of metadata', 'memory_write', { ...entry, metadata: { [token]: 1 } }],
    [
      'description',
      'create_features',
      { features: [{ slug: 'x', name: 'x', description: token }] },
    ],
    ['key of a ticket', 'create_tickets', { tickets: [{ key: token }] }],
    ['path', 'create_paths', { paths: [{ path: `src/${token}`, type: 'file' }] }],
    ['document', 'store_memory', { title: 'x', type: 'analysis', content: token }],
    ['title of a document', 'store_memory', { title: token, type: 'analysis', content: 'x' }],
    ['bank', 'update', { ...bank, content: token }],
    ['bank of the user', 'update', { ...bank, bank_type: 'global', content: token }],
    ['name of a folder', 'initialize_memory_bank', { path: `packages/${token}` }],
    ['name of a folder above', 'initialize_memory_bank', { path: `${token}/.memory-bank` }],
    ['name of a bank', 'activate', { bank_type: 'project', bank_id: token }],
  ];

  test.each(sample(cases, 1))('%s, by %s', async (_, tool, args) => {
    const refusal = await stage.refuse(tool, args);
    expect(refusal).toContain('looks like a GitHub token');
    expect(refusal).not.toContain(token);
    expect(holding(join(stage.repo.root, '..'))).toEqual([]);
    expect(stage.repo.git('cat-file', '--batch-all-objects', '--batch')).not.toContain(token);
    expect(stage.messages.join('\n')).not.toContain(token);
  });

  deep.each([
    ['read_memory_bank_file', { filename: `\u00ad${token.replace('_', '%5F')}.md` }],
    ['memory_delete', { category: 'patterns', key: token, confirm: true }],
    ['read_memory_bank_file', { filename: `${token}.md` }],
    ['get_feature', { slug: token }],
    ['delete_memory', { memory_id: token }],
    ['switch_mode', { mode: token }],
    ['search_memory', { query: 'x', type: token }],
    ['search_memory', { query: 'x', toolset: token }],
    ['restore_memory', { path: `${token}.md` }],
    ['read_as_of', { revision: token }],
    ['update', { ...bank, bank_id: token, content: 'x' }],
    ['memory_write', { ...entry, [token]: 'x', category: token }],
  ])('what %s cannot find is not repeated: %j', async (tool, args) => {
    const refusal = await stage.refuse(tool, args);
    expect(refusal).not.toContain(token);
    expect(refusal).not.toContain(token.slice(4));
    expect(refusal.toLowerCase()).not.toContain(token.slice(4).toLowerCase());
    expect(stage.messages.join('\n')).not.toContain(token.slice(4));
  });

  deep('but a folder that the user has named may be used', async () => {
    mkdirSync(stage.repo.path(token));
    await stage.succeed('initialize_memory_bank', { path: token });
  });

  deep('the name of a file, and the refusal says so', async () => {
    const refusal = await stage.refuse('write_memory_bank_file', {
      filename: `${token}.md`,
      content: 'x',
    });
    expect(refusal).toContain('the name of the file (line 1) holds');
  });
});

describe('over HTTP', () => {
  let api: Served;
  beforeAll(async () => {
    api = await serve();
  });
  afterAll(() => api.close());

  test.each([
    ['/memory-bank/file', { filename: 'x.md', content: `use ${token}` }],
    ['/memory-bank/trackProgress', { action: 'x', description: token }],
  ])('POST %s refuses it, and neither answer nor log holds it', async (path, body) => {
    const answer = await api.ask('POST', path, { body });
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain('looks like a GitHub token');
    expect(JSON.stringify(answer.body)).not.toContain(token);
    expect(api.log.join('\n')).not.toContain(token);
    expect(holding(api.repo.root)).toEqual([]);
  });
});
