import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deep } from '../support/depth.ts';
import { main, newFolder } from '../support/process.ts';
import { gitEnv, Repo } from '../support/repo.ts';

const guide = readFileSync(join(import.meta.dirname, '../../docs/guide.md'), 'utf8');

/** A command whose output the guide shows, with `…` for what differs from run to run. */
interface Shown {
  readonly command: string;
  readonly output: string;
}

type Block = { readonly script: string } | Shown;

/** What a reader types in a section, in order. */
function blocks(section: string): Block[] {
  return [...section.matchAll(/^```(sh|console)\n(.*?)^```$/gms)].flatMap(
    ([, language, text = '']): Block[] => {
      if (language === 'sh') return [{ script: text }];
      return text
        .split(/^\$ /m)
        .slice(1)
        .map((entry) => {
          const end = entry.indexOf('\n');
          return { command: entry.slice(0, end), output: entry.slice(end + 1) };
        });
    },
  );
}

const sections = guide
  // An output may have headings, too; those of the guide have a blank line before them.
  .split('\n\n## ')
  .slice(1)
  .map((text) => [text.split('\n', 1)[0] ?? '', blocks(text)] as const)
  .filter(([, typed]) => typed.length > 0);

/** A home with the program on its PATH, and a project in it. */
function surroundings(): { readonly cwd: string; readonly env: NodeJS.ProcessEnv } {
  const home = newFolder();
  for (const name of ['bin', 'shop']) mkdirSync(join(home, name));
  const program = join(home, 'bin/memory-bank');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  chmodSync(program, 0o755);
  const repo = new Repo(join(home, 'shop')).begin();
  const PATH = `${join(home, 'bin')}:${process.env.PATH}`;
  // Of the form of GitHub's, and nobody's.
  const TOKEN = `ghp_${'qJ3vT8xZ1b'.repeat(3)}kW5m9R`;
  return { cwd: repo.root, env: { ...gitEnv, HOME: home, PATH, TOKEN } };
}

/** A pattern for an output that the guide shows. The day of a run is not that of the guide. */
function pattern(output: string): RegExp {
  const parts = output.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^]*').replace(/\d{4}-\d\d-\d\d/g, '\\d{4}-\\d\\d-\\d\\d')}$`);
}

test('the guide has commands in every section', () => {
  expect(sections.length).toBeGreaterThan(9);
});

deep.each(sections)('the guide works: %s', (_, typed) => {
  const { cwd, env } = surroundings();
  const outputs = newFolder();
  const script = typed.map((block, i) =>
    'script' in block
      ? block.script
      : `{ ${block.command}\n} > '${join(outputs, `${i}`)}' 2>&1 || true`,
  );
  const text = ['set -e', ...script].join('\n');
  const { status, stderr } = spawnSync('sh', ['-c', text], { cwd, env, encoding: 'utf8' });
  expect(`${status} ${stderr}`).toMatch(/^0 /);
  for (const [i, block] of typed.entries()) {
    if ('script' in block) continue;
    expect(readFileSync(join(outputs, `${i}`), 'utf8')).toMatch(pattern(block.output));
  }
});
