import { chmodSync, statSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { onDisk } from '../faults/lacking.ts';
import { type Scenario, scenarios } from '../faults/scenario.ts';
import { Stage } from '../faults/stage.ts';
import { isFull, sample } from '../support/depth.ts';
import { note } from '../support/note.ts';
import { open } from '../support/open.ts';
import { WindowsDisk } from '../support/windows-disk.ts';
import { create } from './create.ts';

const stages: Stage[] = [];
afterAll(() => {
  for (const stage of stages) stage.remove();
});

const tried = scenarios.filter(({ name }) => isFull || name === 'two changes');

describe.each(tried)('on a disk with the ways of Windows: $name', (scenario: Scenario) => {
  test.each(sample([true, false], 1))('all is done (inodes: %s)', async (inodes) => {
    const stage = await Stage.set(scenario);
    stages.push(stage);
    const disk = new WindowsDisk({ inodes });
    expect(await onDisk(stage, disk, false)).toEqual([]);
    expect(disk.pauses.length).toBeGreaterThan(0);
  });
});

test('a read-only object that git has written is written again', async () => {
  const repo = create();
  const text = 'key: a\ntags: []\ntext: same\n';
  repo.write('blob', text);
  const oid = repo.git('hash-object', '-w', 'blob').trim();
  const object = repo.path(`.git/objects/${oid.slice(0, 2)}/${oid.slice(2)}`);
  expect(statSync(object).mode & 0o222).toBe(0);
  const opened = await open(repo.root, [note], { files: new WindowsDisk() });
  await opened.call.store.change({ subject: 'm' }, (tx) =>
    tx.put(note, { key: 'a', tags: [], text: 'same' }),
  );
  await opened.workspace.close();
  expect(repo.git('rev-parse', 'HEAD:.memory-bank/notes/a.yaml').trim()).toBe(oid);
  expect(repo.fsck()).toBe('');
});

test('mode bits that mean nothing are not committed', async () => {
  const repo = create();
  repo.git('config', 'core.filemode', 'false');
  const opened = await open(repo.root, [note]);
  const put = (text: string) =>
    opened.call.store.change({ subject: 'm' }, (tx) => tx.put(note, { key: 'a', tags: [], text }));
  await put('one');
  chmodSync(repo.path('.memory-bank/notes/a.yaml'), 0o755);
  await put('two');
  repo.write('.memory-bank/notes/b.yaml', 'key: b\ntags: []\ntext: by hand\n');
  chmodSync(repo.path('.memory-bank/notes/b.yaml'), 0o777);
  await opened.call.store.change({ subject: 'm' }, (tx) =>
    tx.put(note, { key: 'b', tags: [], text: 'ours' }),
  );
  await opened.workspace.close();
  const modes = repo.git('log', '--format=', '--raw', '-r', '--', '.memory-bank/notes');
  expect(modes).toContain('100644');
  expect(modes).not.toContain('100755');
  expect(repo.status()).toEqual([]);
});
