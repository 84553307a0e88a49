import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import type { JsonObject } from '../../src/core/values/json.ts';
import { gitEnv, type Repo } from '../support/repo.ts';
import { Times } from './figures.ts';
import { entries, entry } from './knowledge.ts';
import { addFiles, NativeGit, project } from './project.ts';
import { report, table } from './report.ts';
import { ServerProcess } from './server.ts';

/** Measures a large repository, whose packs must never be read as a whole. */

const megabyte = 1024 * 1024;
const blobs = 50;
const blobSize = 10 * megabyte;

/** Adds random bytes on a separate branch, and packs everything into one file. */
async function enlarge(repo: Repo): Promise<void> {
  const quick = ['-c', 'core.compression=0', '-c', 'core.bigFileThreshold=1m'];
  const git = spawn('git', [...quick, 'fast-import', '--quiet'], { cwd: repo.root, env: gitEnv });
  const write = async (bytes: Buffer | string) => {
    if (!git.stdin.write(bytes)) await once(git.stdin, 'drain');
  };
  await write(
    'commit refs/heads/assets\ncommitter A <a@example.org> 1700000000 +0000\ndata 3\nAdd\n',
  );
  for (let i = 0; i < blobs; i++) {
    await write(`M 100644 inline asset-${i}.bin\ndata ${blobSize}\n`);
    await write(randomBytes(blobSize));
    await write('\n');
  }
  git.stdin.end();
  await once(git, 'close');
  repo.git(...quick, 'repack', '-adq');
}

function packSize(repo: Repo): number {
  const folder = repo.path('.git/objects/pack');
  const sizes = readdirSync(folder).map((name) => statSync(`${folder}/${name}`).size);
  return sizes.reduce((sum, size) => sum + size, 0) / megabyte;
}

const { created_at, updated_at, ...given } = entry(7, 'Changed');
const steps: readonly (readonly [name: string, tool: string, args: JsonObject])[] = [
  ['first read', 'memory_read', { category: given.category, key: given.key }],
  ['first write', 'memory_write', given],
];

const rows: string[][] = [];
for (const large of [false, true]) {
  const repo = project();
  addFiles(repo, 'packed', entries(0, 100));
  if (large) await enlarge(repo);
  const server = await ServerProcess.start(repo.root);
  const row = [`${packSize(repo).toFixed(1)} MB`, server.memory.toFixed(0)];
  for (const [, tool, args] of steps) {
    const times = new Times();
    await times.measure(() => server.call(tool, args));
    row.push(times.text.split(' ')[0] ?? '', server.peakMemory.toFixed(0));
  }
  await server.end();
  const native = new NativeGit(repo, 'full');
  const times = new Times();
  await times.measure(() => native.commit('note.md', 'text'));
  native.close();
  rows.push([...row, times.text.split(' ')[0] ?? '']);
  repo.remove();
}

report('pack', 'A large repository', [
  'The first read and the first write of a new server, in milliseconds, and the peak resident memory up to then.',
  table(
    ['pack', 'MB at the start', 'read', 'MB', 'write', 'MB', 'native git: add and commit'],
    rows,
  ),
]);
