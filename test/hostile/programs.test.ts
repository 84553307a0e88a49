import { chmodSync, cpSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GitServer } from '../support/git-server.ts';
import { Repo } from '../support/repo.ts';
import { Stage } from './stage.ts';

test('no program that a repository names is run', async () => {
  const stage = new Stage();
  const { repo } = stage;
  const mark = join(repo.root, '.git', 'was-run');
  const program = join(repo.root, '.git', 'program');
  writeFileSync(program, `#!/bin/sh\necho "$0 $@" >> '${mark}'\ncat\n`);
  chmodSync(program, 0o755);
  for (const hook of [
    'pre-commit',
    'prepare-commit-msg',
    'commit-msg',
    'post-commit',
    'post-index-change',
    'reference-transaction',
    'post-rewrite',
    'pre-auto-gc',
    'fsmonitor-watchman',
  ]) {
    writeFileSync(join(repo.root, '.git/hooks', hook), `#!/bin/sh\nexec '${program}'\n`, {
      mode: 0o755,
    });
  }
  await stage.succeed('initialize_memory_bank', { path: '.' });
  const remote = new Repo(join(repo.root, '.git', 'remote.git'));
  repo.git('clone', '-q', '--bare', '.', remote.root);
  cpSync(join(repo.root, '.git/hooks'), remote.path('hooks'), { recursive: true });
  for (const hook of ['pre-receive', 'update', 'post-receive', 'post-update', 'proc-receive']) {
    writeFileSync(remote.path(`hooks/${hook}`), `#!/bin/sh\nexec '${program}'\n`, { mode: 0o755 });
  }
  remote.git('config', 'core.alternateRefsCommand', program);
  remote.git('config', 'core.fsmonitor', program);
  repo.git('remote', 'add', 'origin', remote.root);
  repo.git('config', 'branch.main.remote', 'origin');
  repo.git('config', 'branch.main.merge', 'refs/heads/main');
  for (const [name, value] of [
    ['core.fsmonitor', program],
    ['core.hooksPath', join(repo.root, '.git/hooks')],
    ['core.pager', program],
    ['core.editor', program],
    ['core.sshCommand', program],
    ['core.askPass', program],
    ['core.alternateRefsCommand', program],
    ['credential.helper', `!${program}`],
    ['diff.external', program],
    ['diff.evil.textconv', program],
    ['diff.evil.command', program],
    ['filter.evil.clean', program],
    ['filter.evil.smudge', program],
    ['filter.evil.process', program],
    ['merge.evil.driver', program],
    ['gpg.program', program],
    ['commit.gpgSign', 'true'],
    ['alias.commit', `!${program}`],
    ['uploadpack.packObjectsHook', program],
    ['remote.origin.uploadpack', program],
    ['remote.origin.receivepack', program],
    ['core.gitProxy', program],
    ['remote.origin.proxy', 'http://127.0.0.1:1'],
    ['http.proxy', 'http://127.0.0.1:1'],
    ['url.ext::sh -c touch% mark.insteadOf', 'evil://'],
  ] as const) {
    repo.git('config', name, value);
  }
  repo.write('.gitattributes', '* filter=evil diff=evil merge=evil\n');
  repo.write('.memory-bank/.gitattributes', '* diff=evil merge=evil\n');
  await stage.refuse('write_memory_bank_file', { filename: 'progress.md', content: 'zero\n' });
  repo.write('.gitattributes', '* filter=evil diff=evil merge=evil\n/.memory-bank/** -filter\n');
  await stage.succeed('write_memory_bank_file', { filename: 'progress.md', content: 'one\n' });
  await stage.succeed('write_memory_bank_file', { filename: 'progress.md', content: 'two\n' });
  await stage.succeed('track_progress', { action: 'x', description: 'y' });
  await stage.succeed('search_memory', { query: 'two' });
  await stage.succeed('record_history', { path: 'progress.md' });
  await stage.succeed('diff_memory', { from: 'HEAD~1' });
  await stage.succeed('blame_record', { path: 'progress.md' });
  await stage.succeed('restore_memory', { path: 'progress.md', revision: 'HEAD~1' });
  await stage.succeed('resolve_conflicts', {});
  await stage.succeed('sync_memory', { confirm: true });
  expect(remote.git('rev-parse', 'main')).toBe(repo.git('rev-parse', 'main'));
  const server = await GitServer.start(join(repo.root, '.git'));
  server.credentials = 'me:right';
  for (const url of [
    server.url('remote.git'),
    server.url('remote.git', 'me:wrong'),
    'ssh://nowhere.invalid/x.git',
    'nowhere.invalid:x.git',
    `ext::${program}`,
    'evil://nowhere/x.git',
  ]) {
    repo.git('config', 'remote.origin.url', url);
    await stage.refuse('sync_memory', {});
  }
  server.credentials = undefined;
  // No hooks here, because the hooks of a server do run.
  const served = new Repo(join(repo.root, '.git', 'served.git'));
  repo.git('clone', '-q', '--bare', '.', served.root);
  served.git('config', 'http.receivepack', 'true');
  repo.git('config', 'remote.origin.url', server.url('served.git'));
  await stage.succeed('write_memory_bank_file', { filename: 'progress.md', content: 'three\n' });
  await stage.succeed('sync_memory', { confirm: true });
  expect(served.git('rev-parse', 'main')).toBe(repo.git('rev-parse', 'main'));
  await server.stop();
  expect(existsSync(mark)).toBe(false);
  await stage.close();
});
