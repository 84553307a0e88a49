import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { EvidenceRequest } from '../../src/core/evidence/verdict.ts';
import { Repository } from '../../src/git/commit/repository.ts';
import { ObjectDatabase } from '../../src/git/objects/odb.ts';
import { deep } from '../support/depth.ts';
import { note } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';

let repo: Repo;
let opened: Opened;

beforeEach(async () => {
  repo = Repo.create();
  opened = await open(repo.root, [note]);
});

afterEach(async () => {
  await opened.workspace.close();
  repo.remove();
});

function commit(message: string): string {
  return repo.commitAll(message);
}

async function check(request: EvidenceRequest = {}) {
  const { docs } = await opened.call.history.evidence({ docs: true, ...request });
  if (!docs) throw new Error('no documents were checked');
  return docs;
}

/** The findings as short texts: `AGENTS.md:3 path src/old.ts -> src/new.ts`. */
async function drifts(request: EvidenceRequest = {}): Promise<string[]> {
  const { files } = await check(request);
  return files.flatMap(({ path, findings }) =>
    findings.map(({ line, kind, text, now }) => {
      return `${path}:${line} ${kind} ${text}${now === undefined ? '' : ` -> ${now}`}`;
    }),
  );
}

const body = Array.from({ length: 20 }, (_, i) => `export const step${i} = ${i * 7};`).join('\n');

describe('paths', () => {
  test('a removed file is named with the commit that removed it', async () => {
    repo.write('src/lock.ts', body);
    repo.write('AGENTS.md', '# Rules\n\nThe lock is in `src/lock.ts:3`, see `README.md`.\n');
    commit('Add the lock');
    expect(await drifts()).toEqual([]);
    repo.git('rm', '-q', 'src/lock.ts');
    const removal = commit('Remove the lock');
    const { files, counts } = await check();
    expect(files).toEqual([
      {
        path: 'AGENTS.md',
        findings: [
          {
            kind: 'path',
            severity: 'warning',
            line: 3,
            text: 'src/lock.ts',
            commit: removal,
            now: undefined,
            message: `\`src/lock.ts\` does not exist, since ${removal.slice(0, 12)} (Ada Lovelace <ada@example.org>: Remove the lock).`,
          },
        ],
      },
    ]);
    expect(counts).toEqual({ files: 2, claims: 2, drifted: 1, true: 1, unknown: 0 });
  });

  test('a removal that is not committed has no commit', async () => {
    repo.write('src/lock.ts', body);
    repo.write('AGENTS.md', 'The lock is in `src/lock.ts`.\n');
    commit('Add the lock');
    repo.takeAway('src/lock.ts');
    const { files } = await check();
    expect(files).toMatchObject([{ findings: [{ text: 'src/lock.ts', commit: undefined }] }]);
  });

  test('renamed files and folders have their new names, and --fix writes only these', async () => {
    repo.write('src/lock.ts', body);
    repo.write('src/net/a.ts', `${body}\n// a`);
    repo.write('src/net/b.ts', `// b\n${body}`);
    repo.write('docs/lock.md', 'The lock.\n');
    const text = [
      'The lock: `./src/lock.ts`, [src/lock.ts](src/lock.ts), and `src/lock.ts.bak`.\r',
      'The network: `src/net/`.\r',
      'More is in [the docs](docs/lock.md "Lock").\r',
      '',
    ].join('\n');
    repo.write('CLAUDE.md', text);
    commit('Begin');
    repo.git('mv', 'src/lock.ts', 'src/guard.ts');
    repo.git('mv', 'src/net', 'src/network');
    repo.git('mv', 'docs/lock.md', 'docs/a (b).md');
    commit('Rename');
    expect(await drifts()).toEqual([
      'CLAUDE.md:1 path ./src/lock.ts -> ./src/guard.ts',
      'CLAUDE.md:1 link src/lock.ts -> src/guard.ts',
      'CLAUDE.md:2 path src/net/ -> src/network/',
      'CLAUDE.md:3 link docs/lock.md -> docs/a%20%28b%29.md',
    ]);
    const { fixed, counts } = await check({ fix: true });
    expect({ fixed, drifted: counts.drifted }).toEqual({ fixed: ['CLAUDE.md'], drifted: 0 });
    const written = text
      .replace('./src/lock.ts', './src/guard.ts')
      .replace('](src/lock.ts)', '](src/guard.ts)')
      .replace('src/net/', 'src/network/')
      .replace('docs/lock.md', 'docs/a%20%28b%29.md');
    expect(repo.read('CLAUDE.md')).toBe(written);
    expect(repo.status()).toEqual([' M CLAUDE.md']);
  });

  test('a pattern that matches no file any more is found', async () => {
    repo.write('src/lock.spec.ts', body);
    repo.write('AGENTS.md', 'Tests are in `src/**/*.spec.ts`, code is in `src/*.{ts,tsx}`.\n');
    commit('Begin');
    repo.git('mv', 'src/lock.spec.ts', 'src/lock.ts');
    commit('Rename');
    expect(await drifts()).toEqual(['AGENTS.md:1 path src/**/*.spec.ts']);
  });

  test('what the history does not prove is not judged', async () => {
    const gone = ['src/gone.ts', 'build/out.js', 'docs/plan.ts', 'src/kept.ts'];
    for (const path of gone) repo.write(path, `// ${path}\n${body}`);
    repo.write(
      'AGENTS.md',
      [
        'It generates `src/gone.ts`.',
        'See `build/out.js`, `path/to/file.ts`, `../other/src/gone.ts`, `/etc/hosts`, `src/none.ts`.',
        'See `https://example.org/src/gone.ts` and `C:\\src\\gone.ts`.',
        '```ts',
        "import './src/gone.ts';",
        '```',
        '<!-- `src/gone.ts` -->',
        '',
      ].join('\n'),
    );
    repo.write('CHANGELOG.md', 'Added `src/gone.ts`.\n');
    repo.write('archive/CLAUDE.md', 'Added `src/gone.ts`.\n');
    repo.write('docs/adr/0001-gone.md', 'We use `src/gone.ts`.\n');
    repo.write('test/fixtures/README.md', 'We use `src/gone.ts`.\n');
    repo.write('docs/made.md', '<!-- Generated by a program. -->\n\nWe use `src/gone.ts`.\n');
    commit('Begin');
    for (const path of gone) repo.git('rm', '-q', path);
    repo.write('.gitignore', 'build/\n');
    repo.write('packages/a/src/kept.ts', 'other');
    commit('Remove');
    // A claim that was never true.
    repo.write('README.md', 'We use `src/gone.ts`.\n');
    repo.write('packages/a/README.md', 'We use `src/kept.ts`.\n');
    commit('Write');
    expect(await drifts()).toEqual([]);
  });

  test('a link to a page that was moved is not judged in documents, and a file put away is no new name', async () => {
    repo.write('docs/first.md', '[a](page.md)\n');
    repo.write('docs/page.md', 'The page.\n');
    repo.write('src/lock.ts', body);
    repo.write('AGENTS.md', 'See `src/lock.ts`.\n');
    commit('Begin');
    repo.write('docs/part/keep.md', 'Keep.\n');
    repo.write('legacy/keep.md', 'Keep.\n');
    repo.git('mv', 'docs/page.md', 'docs/part/page.md');
    repo.git('mv', 'src/lock.ts', 'legacy/first.ts');
    commit('Move');
    expect(await drifts()).toEqual(['AGENTS.md:1 path src/lock.ts']);
  });

  test('a document keeps its history when it moves', async () => {
    repo.write('src/lock.ts', body);
    repo.write('DEVELOPMENT.md', 'The lock is in `src/lock.ts`.\n');
    commit('Begin');
    repo.git('rm', '-q', 'src/lock.ts');
    commit('Remove');
    repo.write('docs/keep.md', 'Keep.\n');
    repo.git('mv', 'DEVELOPMENT.md', 'docs/development.md');
    commit('Move');
    expect(await drifts()).toEqual(['docs/development.md:1 path src/lock.ts']);
  });
});

describe('links', () => {
  test('a link to a missing file or heading is found', async () => {
    repo.write('docs/guide.md', '# Guide\n\n## First `step`\n\n## Last step\n');
    repo.write(
      'README.md',
      '[a](docs/guide.md#first-step) [b](docs/guide.md#last-step) [c](docs/none.md) [d](https://x.org/a.md) [e](#nothing)\n\n[f]: docs/guide.md\n<a href="docs/gone.md">g</a>\n',
    );
    commit('Begin');
    expect(await drifts()).toEqual([
      'README.md:1 link docs/none.md',
      'README.md:4 link docs/gone.md',
    ]);
    repo.write('docs/guide.md', '# Guide\n\n## First step\n\n## End\n');
    commit('Rename a heading');
    expect(await drifts()).toContain('README.md:1 anchor docs/guide.md#last-step');
  });
});

describe('commands', () => {
  test('a removed script, target or recipe is found, and a renamed script has its new name', async () => {
    const manifest = (scripts: object) => repo.write('package.json', JSON.stringify({ scripts }));
    manifest({ build: 'tsc', check: 'vitest run', 'check:all': 'vitest', lint: 'biome' });
    repo.write('Makefile', 'include Makefile\nall: build\n\nbuild deploy:\n\tnpm run build\n');
    repo.write('justfile', 'fmt *args:\n  x\nrelease: fmt\n  x\n');
    repo.write(
      'AGENTS.md',
      [
        'Run `npm run build` and `npm run check -- --watch`.',
        '```bash',
        '$ npm run check:all && yarn lint # both',
        '$ make build deploy',
        'just release',
        '$ just fmt release',
        '```',
        '`pnpm run --silent lint`; `npm run unknown`',
        '',
      ].join('\n'),
    );
    commit('Begin');
    expect(await drifts()).toEqual([]);
    manifest({ build: 'tsc', test: 'vitest run', 'check:all': 'vitest' });
    repo.write('Makefile', 'all: build\n\nbuild:\n\tnpm run build\n');
    repo.write('justfile', 'release:\n  x\n');
    commit('Rename');
    expect(await drifts()).toEqual([
      'AGENTS.md:1 script npm run check -> npm run test',
      'AGENTS.md:3 script yarn lint',
      'AGENTS.md:4 target make build deploy',
      'AGENTS.md:6 target just fmt',
      'AGENTS.md:8 script pnpm run --silent lint',
    ]);
    await check({ fix: true });
    expect(repo.read('AGENTS.md')).toContain('`npm run test -- --watch`');
  });

  test('a manifest that cannot be read proves nothing', async () => {
    repo.write('package.json', '{"scripts":{"build":"tsc"}}');
    repo.write('AGENTS.md', 'Run `npm run build`.\n');
    commit('Begin');
    repo.write('package.json', '{"scripts":');
    commit('Break');
    expect(await drifts()).toEqual([]);
  });

  test('a script or target that was removed, but not committed, has no commit', async () => {
    const manifest = (scripts: object) => repo.write('package.json', JSON.stringify({ scripts }));
    manifest({ build: 'tsc', lint: 'biome' });
    repo.write('Makefile', 'all:\n\ndeploy:\n');
    repo.write('AGENTS.md', 'Run `npm run lint`, `make deploy` and `npm run none`.\n');
    commit('Begin');
    manifest({ build: 'tsc' });
    repo.write('Makefile', 'all:\n');
    const { files } = await check();
    expect(files[0]?.findings.map(({ text, commit }) => [text, commit])).toEqual([
      ['npm run lint', undefined],
      ['make deploy', undefined],
    ]);
    repo.write('package.json', '{"scripts":');
    expect(await drifts()).toEqual(['AGENTS.md:1 target make deploy']);
  });

  test('a package of a workspace that was removed is found', async () => {
    repo.write('a/Cargo.toml', '[package]\nname = "lock"\n[dependencies]\nserde = "1"\n');
    repo.write('b/Cargo.toml', '[package]\nversion = "1.0.0"\nname = "queue"\n');
    repo.write('AGENTS.md', '```sh\ncargo test -p lock\ncargo build -p queue -p serde\n```\n');
    commit('Begin');
    expect(await drifts()).toEqual([]);
    repo.git('rm', '-q', 'b/Cargo.toml');
    commit('Remove the queue');
    expect(await drifts()).toEqual(['AGENTS.md:3 crate cargo build -p queue']);
  });

  test('a newer least version of a language is found', async () => {
    const manifest = (node: string) =>
      repo.write('package.json', JSON.stringify({ engines: { node } }));
    manifest('>=18');
    repo.write('README.md', 'Needs Node.js 18 or later, and works with Node.js 16 and Node 20+.\n');
    commit('Begin');
    expect(await drifts()).toEqual([]);
    manifest('>=20.19');
    commit('Ask for Node.js 20');
    expect(await drifts()).toEqual(['README.md:1 runtime Node.js 18 or later']);
  });
});

describe('commands and options of the own programs', () => {
  beforeEach(() => {
    repo.write('package.json', '{ "name": "@a/mover", "bin": "bin.js", "scripts": { "go": "x" } }');
    repo.write(
      'src/cli.ts',
      "on('push', ['--dry-run', '--no-wait', '--keep']);\non('send-all');\n",
    );
    repo.write('Cargo.toml', '[workspace]\n');
    repo.write('b/Cargo.toml', '[package]\nname = "crab"\n[[bin]]\nname = "crab-walk"\n');
  });
  const doc = [
    '```sh',
    'npx mover push --dry-run --no-wait --keep # --none',
    'mover send-all -- --keep',
    'other push --dry-run',
    'npm run go',
    '```',
    'Run `mover push --keep` or `cargo run --bin crab-walk`.',
    '',
  ].join('\n');

  test('are found with the commit that removed them', async () => {
    repo.write('README.md', doc);
    commit('Begin');
    expect(await drifts()).toEqual([]);
    // An option is not made of a part of a word, or of two.
    const rest = "const isDryRun = keepAll('no dry run', '--dry-run-all', 'pre-keep');";
    repo.write('src/cli.ts', `on('push', ['--no-wait']);\n${rest}\n`);
    repo.write('package.json', '{ "name": "@a/mover", "bin": "bin.js" }');
    const removal = commit('Remove');
    repo.write('b/Cargo.toml', '[package]\nname = "crab"\n');
    commit('Remove a binary');
    expect(await drifts()).toEqual([
      'README.md:2 option --dry-run',
      'README.md:2 option --keep',
      'README.md:3 command send-all',
      'README.md:5 script npm run go',
      'README.md:7 crate cargo run --bin crab-walk',
      'README.md:7 option --keep',
    ]);
    const { files } = await check();
    const [finding] = files[0]?.findings ?? [];
    expect(finding).toMatchObject({ commit: removal, severity: 'warning' });
    expect(finding?.message).toContain('No code has the option `--dry-run`, since');
  });

  test('of several words can be the name of a field', async () => {
    const write = (fields: string) =>
      repo.write('src/options.ts', `struct Options { ${fields} }\n`);
    write('dryRunNow: bool, send_all: bool, fast: bool');
    repo.write('README.md', '`mover push --dry-run-now --send-all --fast`\n');
    commit('Begin');
    write('send_all: bool');
    commit('Remove two');
    // A single word could have been anything.
    expect(await drifts()).toEqual(['README.md:1 option --dry-run-now']);
  });

  test('are not judged where the code may have them, or only a test had them', async () => {
    repo.write('README.md', doc);
    commit('Begin');
    repo.write('src/cli.ts', 'push({ dryRun: true, wait: true, KEEP });\n');
    repo.write('src/send_all.ts', 'run();\n');
    commit('Write it in another way');
    expect(await drifts()).toEqual([]);
    repo.write('README.md', '`mover pull --fast`, once removed: `mover --dry-run`\n');
    repo.write('test/cli.ts', "mover('pull', '--fast');\n");
    commit('Test');
    repo.git('rm', '-q', 'test/cli.ts');
    commit('Remove the test');
    expect(await drifts()).toEqual([]);
  });
});

describe('environment variables', () => {
  test('earlier files of code are read only where a document claimed a variable', async () => {
    const versions = [1, 2, 3].map((i) => {
      repo.write('src/a.ts', `run(process.env.APP_WAIT, ${i});\n`);
      return `${commit('Change')}:src/a.ts`;
    });
    repo.write('src/a.ts', 'run();\n');
    repo.write('src/c.ts', 'run(process.env.APP_ON);\n');
    repo.write('AGENTS.md', 'See `src/b.ts`.\n');
    commit('Remove a setting');
    const blobs = versions.map((one) => repo.git('rev-parse', one).trim());
    const read = vi.spyOn(ObjectDatabase.prototype, 'content');
    try {
      for (const text of ['Set `APP_ON`, see `src/b.ts`.\n', 'Set `APP_WAIT`, see `src/b.ts`.\n']) {
        repo.write('AGENTS.md', text);
        repo.git('commit', '-qam', 'Write', '--allow-empty');
        expect(await drifts()).toEqual([]);
        expect(read.mock.calls.filter(([oid]) => blobs.includes(oid))).toEqual([]);
      }
    } finally {
      read.mockRestore();
    }
  });

  const settings = (...names: string[]) =>
    names.map((name) => `export const x = process.env.${name};`).join('\n');

  test('that no code reads any more are found, with the commit', async () => {
    repo.write('src/settings.ts', settings('APP_LOCK_TIME', 'APP_KEPT'));
    repo.write('tool.py', 'wait = os.environ.get("TOOL_WAIT", 1)\n');
    repo.write('.env.example', 'APP_KEPT=1\n');
    repo.write(
      'README.md',
      'Set `APP_LOCK_TIME=5`, `$TOOL_WAIT` and `process.env.APP_KEPT`.\n\n```sh\nTOOL_WAIT=3 python tool.py\n```\n',
    );
    commit('Begin');
    expect(await drifts()).toEqual([]);
    repo.write('src/settings.ts', '');
    const first = commit('Remove a setting');
    repo.git('rm', '-q', 'tool.py');
    commit('Remove the tool');
    expect(await drifts()).toEqual([
      'README.md:1 variable APP_LOCK_TIME',
      'README.md:1 variable TOOL_WAIT',
      'README.md:4 variable TOOL_WAIT',
    ]);
    const { files } = await check();
    expect(files[0]?.findings[0]).toMatchObject({
      commit: first,
      message: expect.stringContaining('No code has `APP_LOCK_TIME`, since'),
    });
  });

  test('are not judged if something else can read them, or nothing ever did', async () => {
    const all = ['APP_DEBUG', 'TOOL_HOME', 'CACHE_SIZE', 'OPENAI_API_KEY', 'MAX_RETRIES'];
    repo.write('src/settings.ts', settings(...all.slice(0, 4)));
    repo.write('src/limits.ts', 'export const MAX_RETRIES = 3;\n');
    repo.write('README.md', `${all.map((name) => `\`${name}\``).join(', ')}, \`NEVER_READ\`.\n`);
    commit('Begin');
    repo.write('src/settings.ts', 'const a = readAll("APP_");\nconst b = env("TOOL" + x);\n');
    repo.write('src/limits.ts', '');
    repo.write('settings.py', 'class Settings(BaseSettings):\n    cache_size: int = 3\n');
    commit('Read them in another way');
    expect(await drifts()).toEqual([]);
  });
});

describe('a check', () => {
  test('with --since shows only what the branch broke', async () => {
    repo.write('src/a.ts', body);
    repo.write('src/b.ts', `// b\n${body}`);
    repo.write('README.md', 'See `src/a.ts` and `src/b.ts`, and [c](c.md).\n');
    commit('Begin');
    repo.git('rm', '-q', 'src/a.ts');
    commit('Remove a');
    repo.checkout('side');
    repo.git('rm', '-q', 'src/b.ts');
    repo.write('README.md', `${repo.read('README.md')}And [d](d.md).\n`);
    commit('Remove b');
    expect(await drifts({ since: 'main' })).toEqual([
      'README.md:1 path src/b.ts',
      'README.md:2 link d.md',
    ]);
    expect(await drifts()).toHaveLength(4);
  });

  test('reads documents of other encodings and with unclosed fences', async () => {
    repo.write('src/a.ts', body);
    const text = 'See `src/a.ts`.\r\n\r\n```bash\r\nnode src/a.ts\r\n';
    repo.write('AGENTS.md', Buffer.from(`\uFEFF${text}`, 'utf16le'));
    repo.write('CLAUDE.md', text);
    repo.write('GEMINI.md', Buffer.from([0, 1, 2]));
    commit('Begin');
    repo.git('rm', '-q', 'src/a.ts');
    commit('Remove');
    expect(await drifts()).toEqual([
      'AGENTS.md:1 path src/a.ts',
      'AGENTS.md:4 path src/a.ts',
      'CLAUDE.md:1 path src/a.ts',
      'CLAUDE.md:4 path src/a.ts',
    ]);
  });

  test('finds nothing in paths that lead out of the project, in odd forms or in a loop', async () => {
    const odd = [
      '../../etc/passwd',
      '/etc/passwd',
      'C:\\Users\\me\\file.ts',
      'src\\lock.ts',
      './../x/../../y.ts',
      'file:///etc/passwd',
      '//server/share/x.ts',
      'src/\0lock.ts',
      'src/%2e%2e/%2e%2e/x.ts',
      'a/'.repeat(3000),
    ];
    const texts = odd.flatMap((path) => [`\`${path}\``, `[x](${path})`, `node ${path}`]);
    repo.write('AGENTS.md', `${texts.join('\n\n')}\n\`\`\`sh\n${texts.join('\n')}\n`);
    repo.write('Makefile', 'include Makefile\nall: all\n');
    repo.write('package.json', '{not json');
    repo.write('README.md', 'Run `make all` and `npm run build`, or `make other`.\n');
    commit('Begin');
    expect(await drifts()).toEqual([]);
  });

  deep('of 2,000 documents, of 5 MB and of 10,000 blocks of code ends soon', async () => {
    repo.write('src/lock.ts', body);
    for (let i = 0; i < 2000; i++) {
      repo.write(`docs/p${i % 50}/page-${i}.md`, `# Page ${i}\n\nSee \`src/lock.ts\`.\n`);
    }
    const line = 'See `src/lock.ts` and `src/gone.ts`.\r\n';
    repo.write('CLAUDE.md', line.repeat(Math.ceil((5 * 1024 * 1024) / line.length)));
    repo.write('AGENTS.md', '```sh\nnode src/lock.ts\n```\n\n'.repeat(10_000));
    repo.write('GEMINI.md', `\`\`\`\n${'`src/lock.ts`\n'.repeat(1000)}`);
    commit('Begin');
    const start = performance.now();
    const { files, counts } = await check();
    expect(files).toEqual([]);
    expect(counts).toMatchObject({ files: 2004, drifted: 0 });
    expect(performance.now() - start).toBeLessThan(30_000);
  });

  test('looks at a missing file once, however many claims name it', async () => {
    repo.write('src/a.ts', body);
    repo.write('README.md', 'See `src/a.ts`.\n\n'.repeat(100));
    commit('Begin');
    repo.git('rm', '-q', 'src/a.ts');
    commit('Remove');
    const ignores = vi.spyOn(Repository.prototype, 'ignores');
    expect(await drifts()).toHaveLength(100);
    expect(ignores.mock.calls.filter(([path]) => path === 'src/a.ts')).toHaveLength(1);
    ignores.mockRestore();
  });

  deep('takes linear time for hostile texts', async () => {
    const hostile = [
      '`'.repeat(3).padEnd(8, 'x').concat('\n').repeat(10_000),
      '`a ``b '.repeat(50_000),
      '](('.repeat(200_000),
      '<a href="'.repeat(100_000),
      'src/*/'.repeat(50_000),
      `\`${'a/'.repeat(400)}*\` `.repeat(500),
      '~~~\n'.repeat(20_001),
      'Node.js '.repeat(50_000),
    ];
    for (const [i, text] of hostile.entries()) repo.write(`docs/hostile-${i}.md`, text);
    repo.write('Makefile', `${'a '.repeat(500_000)}:\n`);
    repo.write('AGENTS.md', `${'See `src/none.ts`. '.repeat(100_000)}\`make x\`\n`);
    commit('Begin');
    const start = performance.now();
    const { files } = await check();
    expect(files).toEqual([]);
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  test('runs only if it is asked for, by the caller or by the settings', async () => {
    expect((await opened.call.history.evidence({})).docs).toBeUndefined();
    await opened.call.store.change({ subject: 'write' }, (tx) =>
      tx.put(note, { key: 'a', text: 'A.', tags: [] }),
    );
    const config = '.memory-bank/config.yaml';
    repo.write(config, `${repo.read(config)}docs: true\n`);
    expect((await opened.call.history.evidence({})).docs).toBeDefined();
    expect((await opened.call.history.evidence({ path: 'notes' })).docs).toBeUndefined();
  });
});
