import { afterEach, beforeEach, expect, test } from 'vitest';
import { deep } from '../support/depth.ts';
import { newFolder } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { gitEnv, Repo } from '../support/repo.ts';

let repo: Repo;
beforeEach(() => {
  repo = Repo.create();
});
afterEach(() => repo.remove());

function run(...args: string[]) {
  const env = { ...gitEnv, HOME: newFolder() };
  return runProgram(repo.root, args, { env }).stdout;
}

const originals = {
  'activeContext 2.md': 'activeContext.md',
  'banks/contexts/start (1).md': 'banks/contexts/start.md',
  'Copy of productContext.md': 'productContext.md',
  'decisionLog (1).md': 'decisionLog.md',
  "progress (Ann's conflicted copy).md": 'progress.md',
};

/** A memory with the files, and with copies that git does not have. */
function withCopies(): void {
  const write = (name: string, text: string) => repo.write(`.memory-bank/${name}`, text);
  for (const name of Object.values(originals))
    write(name, `# ${name}\n\n## Current Tasks\n\n- A\n`);
  write('phase 1.md', '# A name with a number, of no other file\n');
  write('notes.md', '# Notes\n');
  write('notes 2.md', '# A record of its own, which git has\n');
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', 'Begin');
  for (const name of Object.keys(originals)) write(name, `# ${name}\n\n## Current Tasks\n\n- B\n`);
  write('plan 2.md', '# A new record without another one\n');
}

deep('status names copies of files by their names', () => {
  withCopies();
  const status = run('status');
  for (const [copy, original] of Object.entries(originals)) {
    expect(status).toContain(`  ${copy} is a copy of ${original} by its name`);
  }
  const { copies } = JSON.parse(run('status', '--output', 'json'));
  const paths = copies.map(({ path }: { path: string }) => path);
  expect(paths.sort()).toEqual(Object.keys(originals).sort());
});

deep(
  'doctor, check and the brief name copies of files by their names, and nothing hides them',
  () => {
    withCopies();
    const doctor = run('doctor');
    expect(doctor.match(/^note +Records /gm)).toHaveLength(Object.keys(originals).length);
    for (const [copy, original] of Object.entries(originals)) {
      expect(doctor).toContain(
        `${copy} is a copy of ${original} by its name, and git does not have it. Take over what`,
      );
    }
    const found = JSON.parse(run('check', '--output', 'json'));
    const kinds = found.records.flatMap(
      ({ path, findings }: { path: string; findings: object[] }) =>
        findings.map((one) => ({ path, ...one })),
    );
    const copies = kinds.filter(({ kind }: { kind: string }) => kind === 'copy');
    expect(
      copies.map(({ path, severity, records }: Record<string, unknown>) => [
        path,
        severity,
        records,
      ]),
    ).toEqual(
      Object.keys(originals)
        .sort()
        .map((path) => [path, 'notice', [Reflect.get(originals, path)]]),
    );
    const brief = run('brief');
    expect(brief).toContain(
      '- activeContext 2.md: a copy of activeContext.md by its name, not in git; take over what that lacks, and remove this one\n',
    );
    expect(brief).not.toContain('copy of notes.md');
    expect(run('show', 'activeContext.md')).toContain('- A');
    expect(run('show', 'activeContext 2.md')).toContain('- B');
    expect(run('list').match(/not committed$/gm)).toHaveLength(Object.keys(originals).length + 1);
  },
);

test('check names a file whose key another file has, as an error', () => {
  run('create-features', '--features', '[{"slug": "auth", "name": "Auth"}]');
  const path = repo.git('ls-files', '*/auth.yaml').trim();
  const copy = path.replace('.yaml', ' (1).yaml');
  repo.write(copy, repo.read(path).replace('Auth', 'Old'));
  const [own, other] = [path, copy].map((one) => one.replace('.memory-bank/', ''));
  expect(run('check')).toContain(
    `error    ${other}: It has the same key as ${own}, and only that counts: take over what that lacks, then remove this file, or give it another key.\n`,
  );
});
