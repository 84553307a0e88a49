import { readdirSync, readFileSync, rmSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { App } from '../../src/app/app.ts';
import { readEvent } from '../../src/app/hook/client-event.ts';
import { keepDigest } from '../../src/app/hook/digest-keeping.ts';
import { answerHook } from '../../src/app/hook/hook-answer.ts';
import { contextMemory } from '../../src/app/hook/hook-memory.ts';
import { QuickHookMemory } from '../../src/app/hook/quick-hook-memory.ts';
import type { JsonObject } from '../../src/core/values/json.ts';
import type { BriefRequest } from '../../src/toolsets/brief/session-brief.ts';
import { brief } from '../../src/toolsets/index.ts';
import { deep, runs, sample } from '../support/depth.ts';
import fc from '../support/fc.ts';
import { newFolder } from '../support/process.ts';
import { Repo } from '../support/repo.ts';

/** The digest that servers keep for hooks: a base, and what has changed since. */

const count = 70;
const agent = 'tester/1.0';
const plants = ['alder', 'birch', 'cedar', 'damson', 'elm', 'fir', 'gorse', 'hazel'];

class World {
  readonly repo = Repo.create();
  readonly #home = newFolder();
  app = this.#open();
  session = this.app.connect();

  #open(): App {
    return new App({
      place: { flag: this.repo.root, env: {}, cwd: this.repo.root, home: '/home/nobody' },
      homeFolder: this.#home,
      durability: 'relaxed',
      log: () => {},
    });
  }

  /** Writes records, and commits them. */
  fill(): void {
    for (let i = 0; i < count; i++) {
      const category = i % 2 === 0 ? 'decisions' : 'patterns';
      const time = new Date(1.7e12 + i * 1000).toISOString();
      const names = `${plants[i % 8]} and ${plants[(i + 3) % 8]} in src/${i % 5}.ts`;
      this.write(`knowledge/${category}/note-${i}.md`, `note-${i}`, category, time, names);
    }
    this.repo.git('add', '-A');
    this.repo.git('commit', '-q', '-m', 'Fill the memory');
  }

  write(path: string, key: string, category: string, time: string, text: string): void {
    const head = `category: ${category}\nkey: ${key}\ncreated_at: ${time}\nupdated_at: ${time}\n`;
    this.repo.write(`.memory-bank/${path}`, `---\n${head}---\n${text}\n`);
  }

  async call(tool: string, args: JsonObject): Promise<JsonObject> {
    const reply = await this.app.call(this.session, tool, args);
    if (!reply || reply.error) throw new Error(JSON.stringify(reply));
    return reply.body;
  }

  put(key: string, value: string, category = 'patterns'): Promise<JsonObject> {
    return this.call('memory_write', { category, key, value, confirm: true });
  }

  /** Keeps the digest, as a server does a while after a change. */
  async keep(renews = false): Promise<void> {
    await setTimeout(60);
    await this.app.run(this.session, 'digest', {}, (context) => keepDigest(context, { renews }));
  }

  /** The brief as a hook composes it from the digest; undefined if it leaves that to the whole program. */
  async quick(request: BriefRequest): Promise<string | undefined> {
    try {
      const memory = QuickHookMemory.open(this.repo.path('.memory-bank'), agent);
      const found = await memory?.brief(request);
      return found === 'unknown' ? undefined : found?.text;
    } catch {
      return undefined;
    }
  }

  async whole(request: BriefRequest): Promise<string> {
    this.session.agent = agent;
    const found = await this.app.run(this.session, 'brief', {}, (context) =>
      brief(context, request),
    );
    return found.text;
  }

  /** Expects that the digest answers, and as the whole program does. */
  async expectQuick(): Promise<void> {
    for (const request of requests) {
      const expected = await this.whole(request);
      expect(await this.quick(request)).toBe(expected);
    }
  }

  /** Expects that the digest answers as the whole program does, if it answers. */
  async expectHonest(): Promise<void> {
    for (const request of requests) {
      const found = await this.quick(request);
      if (found !== undefined) expect(found).toBe(await this.whole(request));
    }
  }

  file(kind: string): string {
    const folder = this.repo.path('.git/memory-bank');
    const name = readdirSync(folder).find((one) => one.startsWith(`${kind}-`));
    return join(folder, name ?? 'missing');
  }

  /** Identifies the content of a file. */
  bytes(kind: string): string {
    return readFileSync(this.file(kind)).toString('latin1');
  }

  async restart(): Promise<void> {
    await this.app.close();
    this.app = this.#open();
    this.session = this.app.connect();
  }

  async close(): Promise<void> {
    await this.app.close();
    this.repo.remove();
    rmSync(this.#home, { recursive: true });
  }
}

const requests: readonly BriefRequest[] = [
  { budget: 6_000 },
  { budget: 2_000, prompt: 'Why does the birch stand next to the elm?', onlyPrompt: true },
  { budget: 4_000, prompt: 'quince and medlar' },
  { budget: 4_000, prompt: 'note-7' },
];

let world: World;
afterEach(() => world.close());

async function prepared(): Promise<World> {
  world = new World();
  world.fill();
  await world.keep();
  await world.expectQuick();
  return world;
}

describe('after a change', () => {
  deep(
    'only the small part of a digest is stored again, and it answers like the whole program',
    async () => {
      const { repo } = await prepared();
      const [base, records] = [world.bytes('brief'), world.bytes('records')];
      const steps: (() => unknown)[] = [
        () => world.put('first', 'quince and medlar in src/1.ts'),
        () => world.put('note-7', 'quince and medlar, and no birch', 'decisions'),
        () => world.call('memory_delete', { category: 'decisions', key: 'note-8', confirm: true }),
        () => repo.write('.memory-bank/notes.txt', 'no record\n'),
        () => repo.write('src/1.ts', 'export {};\n'),
        () => repo.git('switch', '-q', '-c', 'note-9'),
        () => rmSync(repo.path('.memory-bank/knowledge/decisions/note-10.md')),
        () => repo.write('.memory-bank/knowledge/decisions/broken.md', '---\nkey: [\n'),
        () => repo.write('.memory-bank/other/deep/page.md', '# Page\n\nAn elm and a birch.\n'),
        () => rmSync(repo.path('.memory-bank/other'), { recursive: true }),
      ];
      for (const step of sample(steps, 3)) {
        await step();
        await world.expectHonest();
        await world.keep();
        await world.expectQuick();
        expect(world.bytes('brief')).toBe(base);
        expect(world.bytes('records')).toBe(records);
      }
      // A process that has seen none of the changes finds them by the stats of the files.
      await world.restart();
      unlinkSync(world.file('recent'));
      await world.keep();
      await world.expectQuick();
      expect(world.bytes('brief')).toBe(base);
    },
  );

  test('settings and records that cannot be used are summed up with the digest', async () => {
    const { repo } = await prepared();
    repo.write('.memory-bank/knowledge/decisions/broken.md', '---\nkey: [\n');
    repo.write('.memory-bank/config.yaml', 'format: [\n');
    await world.expectHonest();
    await world.keep();
    expect(await world.quick({ budget: 6_000 })).toContain(
      '- check: the settings in config.yaml cannot be used, so nothing is written; records: 1 not readable: run "memory-bank check"\n',
    );
    await world.expectQuick();
  });

  deep('a hook does not know the brief, which is not an error', async () => {
    const { repo } = await prepared();
    const memory = QuickHookMemory.open(repo.path('.memory-bank'), agent);
    const before = await memory?.brief();
    expect(before).toMatchObject({ text: expect.any(String) });
    repo.write('.memory-bank/notes.txt', 'no record\n');
    expect(await memory?.brief()).toBe('unknown');
    expect(await memory?.recordCommits()).toBe('unknown');
  });

  deep('a file counts that did not count because of another one', async () => {
    const { repo } = await prepared();
    const time = new Date(1.7e12).toISOString();
    const twin = () =>
      world.write(
        'knowledge/decisions/a-twin.md',
        'note-2',
        'decisions',
        time,
        'quince and medlar',
      );
    twin();
    await world.keep();
    await world.expectQuick();
    await world.restart();
    // The base of the next digest has both.
    unlinkSync(world.file('brief'));
    await world.keep();
    await world.expectQuick();
    const base = world.bytes('brief');
    rmSync(repo.path('.memory-bank/knowledge/decisions/note-2.md'));
    await world.keep();
    await world.expectQuick();
    await world.put('another', 'text');
    await world.keep();
    await world.expectQuick();
    expect(world.bytes('brief')).toBe(base);
    expect(await world.quick({ budget: 4_000, prompt: 'quince and medlar' })).toContain('a-twin');
  });

  deep('what is known against a record follows the record that replaces another one', async () => {
    await prepared();
    await world.put('uses', 'See knowledge/decisions/note-4.md: quince and medlar');
    unlinkSync(world.file('brief'));
    await world.keep();
    await world.expectQuick();
    await world.call('verify_memory', {
      path: 'knowledge/decisions/note-6.md',
      supersedes: ['knowledge/decisions/note-4.md'],
    });
    const base = world.bytes('brief');
    await world.keep();
    const text = await world.quick({ budget: 4_000, prompt: 'quince and medlar' });
    expect(text).toContain('uses.md: may be out of date');
    await world.expectQuick();
    expect(world.bytes('brief')).toBe(base);
  });

  deep('a new base is stored once too much has changed', async () => {
    await prepared();
    const base = world.bytes('brief');
    const time = new Date(1.7e12).toISOString();
    for (let i = 0; i < 20; i++) {
      world.write(`knowledge/patterns/new-${i}.md`, `new-${i}`, 'patterns', time, 'quince medlar');
    }
    await world.keep();
    await world.expectQuick();
    expect(world.bytes('brief')).toBe(base);
    for (let i = 20; i < 60; i++) {
      world.write(`knowledge/patterns/new-${i}.md`, `new-${i}`, 'patterns', time, 'quince medlar');
    }
    await world.keep();
    await world.expectQuick();
    expect(world.bytes('brief')).not.toBe(base);
  });
});

describe('the last changes of what is shown', () => {
  const shown = async () => (await world.quick({ budget: 6_000 })) ?? '';

  test('each line has its day and author, and what a person wrote comes first', async () => {
    await prepared();
    await world.put('otters', 'Otters sleep in holts', 'decisions');
    await world.call('log_decision', { title: 'Quince', context: 'x', decision: 'Medlar' });
    await world.keep();
    const text = await shown();
    // A test before this one can have set the clock ahead, and times of commits never go back.
    const note = String.raw`\(\d{4}-\d\d-\d\d by tester \(agent\), not confirmed\): "`;
    expect(text).toMatch(new RegExp(`- knowledge/decisions/otters.md ${note}otters: Otters sleep`));
    expect(text).toMatch(new RegExp(`- decisionLog.md ${note}Quince: Medlar`));
    const own = /note-\d+\.md \(of 2023-11-14 · \d{4}-\d\d-\d\d by Ada Lovelace \(git\)\): "/;
    expect(text).toMatch(own);
    expect(text.search(own)).toBeLessThan(text.indexOf('otters.md (2'));
    const prompted = await world.quick({ budget: 2_000, prompt: 'Where do otters sleep?' });
    expect(prompted).toMatch(new RegExp(`otters.md ${note}`));
    await world.expectQuick();
  });

  deep('an action is told first what a person wrote, and by whom', async () => {
    await prepared();
    const file = 'src/quince.ts';
    await world.call('log_decision', { title: 'Medlar', context: 'x', decision: `Use ${file}` });
    const time = new Date(1.7e12).toISOString();
    world.write('knowledge/decisions/old.md', 'old', 'decisions', time, `Medlars are in ${file}`);
    world.repo.git('add', '-A');
    world.repo.git('commit', '-q', '-m', 'Add an old one');
    await world.keep();
    const input = JSON.stringify({
      hook_event_name: 'PreToolUse',
      tool_name: 'Read',
      tool_input: { file_path: world.repo.path(file) },
      cwd: world.repo.root,
    });
    const event = readEvent('action', input);
    const quick = QuickHookMemory.open(world.repo.path('.memory-bank'), agent);
    if (!event || !quick) throw new Error('There is no event or no digest.');
    const found = JSON.stringify(await answerHook(quick, event));
    expect(found).toMatch(
      /old\.md \(of 2023-11-14 · [-\d]+ by Ada Lovelace \(git\)\).*decisionLog\.md \([-\d]+ by tester \(agent\), not confirmed\)/,
    );
    const whole = await world.app.run(world.session, 'hook', {}, async (context) =>
      answerHook(await contextMemory(context), event),
    );
    expect(JSON.stringify(whole)).toBe(found);
  });

  deep('an action is answered from an outdated digest, unless its record has changed', async () => {
    await prepared();
    const write = (text: string) =>
      world.write(
        'knowledge/patterns/quince.md',
        'quince',
        'patterns',
        '2026-01-01T00:00:00Z',
        text,
      );
    write('The quince is grafted, see src/quince.ts');
    world.repo.commitAll('Add the quince');
    await world.keep();
    const act = async (file: string) => {
      const input = { tool_name: 'Read', tool_input: { file_path: file }, cwd: world.repo.root };
      const event = readEvent(
        'action',
        JSON.stringify({ hook_event_name: 'PreToolUse', ...input }),
      );
      const memory = QuickHookMemory.open(world.repo.path('.memory-bank'), agent, true, true);
      return event && memory ? JSON.stringify(await answerHook(memory, event)) : 'no digest';
    };
    // A commit that no hook and no server has seen.
    world.write('knowledge/patterns/new.md', 'new', 'patterns', '2026-01-02T00:00:00Z', 'New');
    world.repo.commitAll('Add another one');
    expect(QuickHookMemory.open(world.repo.path('.memory-bank'), agent)).toBeUndefined();
    expect(await act('src/other.ts')).toBeUndefined();
    expect(await act('src/quince.ts')).toContain('The quince is grafted');
    write('The quince is sown, see src/quince.ts');
    expect(await act('src/quince.ts')).toBe('"unknown"');
    expect(await act('src/other.ts')).toBeUndefined();
  });

  deep(
    'the history of a log is not read again for the decisions that are as they were',
    async () => {
      await prepared();
      const decide = (title: string) =>
        world.call('log_decision', { title, context: 'x', decision: `${title} it is` });
      await decide('Quince');
      await decide('Medlar');
      await world.keep();
      await decide('Gorse');
      await decide('Hazel');
      await setTimeout(60);
      const asked = await world.app.run(world.session, 'digest', {}, async (context) => {
        const dated = vi.spyOn(context.store, 'dated');
        await keepDigest(context);
        return dated.mock.calls.flatMap(([places]) =>
          places.map(({ path, section }) => section ?? path),
        );
      });
      const own = asked.filter((one) => !one.startsWith('knowledge/'));
      // A decision has its parts as sections.
      const titles = own.map((one) => one.replace(/ - \d{4}-.*$/, ''));
      expect([...new Set(titles)]).toEqual([
        'decisionLog.md',
        'Decision Log',
        'Decision Log > Gorse',
        'Decision Log > Hazel',
      ]);
      await world.expectQuick();
    },
  );

  deep('they follow commits, switches and resets that leave the files as they are', async () => {
    const { repo } = await prepared();
    const path = '.memory-bank/knowledge/decisions/note-68.md';
    const first = repo.git('rev-parse', 'HEAD').trim();
    const commit = (...args: string[]) => repo.git('commit', '-q', '-m', 'Quince', ...args);
    const steps: (() => unknown)[] = [
      () => repo.write(path, `${repo.read(path)}Quince.\n`),
      () => commit('-a'),
      () => commit('--amend', '--author', 'Grace <grace@example.org>'),
      () => repo.git('reset', '-q', '--soft', first),
      () => commit('-a', '--author', 'Joan <joan@example.org>'),
      () => {
        repo.git('switch', '-q', '-c', 'side', first);
        repo.write(path, `${repo.read(path)}Quince.\n`);
        commit('-a', '--author', 'Ann <ann@example.org>');
      },
      () => repo.git('merge', '-q', '-s', 'ours', '--no-edit', '-'),
      () => repo.git('switch', '-q', '-'),
      () => commit('--allow-empty', '-m', `Memory-Confirmed: ${'0'.repeat(40)} ${path.slice(13)}`),
    ];
    for (const step of sample(steps, 4)) {
      await step();
      await world.expectHonest();
      await world.keep();
      await world.expectQuick();
    }
    await world.restart();
    await world.keep();
    await world.expectQuick();
  });

  deep('a commit that confirms a record without a change of it is one', async () => {
    const { repo } = await prepared();
    const line = `Memory-Confirmed: ${'0'.repeat(40)} knowledge/decisions/note-2.md`;
    repo.git('commit', '-q', '--allow-empty', '-m', 'memory: confirm note-2', '-m', line);
    expect(await world.quick({ budget: 6_000 })).toBeUndefined();
    await world.keep();
    await world.expectQuick();
  });

  deep('during a checkout no day and author is shown instead of a wrong one', async () => {
    const { repo } = await prepared();
    const path = '.memory-bank/knowledge/decisions/note-68.md';
    repo.write(path, `${repo.read(path)}Quince.\n`);
    expect(await world.whole({ budget: 6_000 })).toContain('(of 2023-11-14 · not committed yet)');
    repo.write('.git/index.lock', '');
    expect(await shown()).toBe('');
    const text = await world.whole({ budget: 6_000 });
    expect(text).toContain('note-68.md (2023-11-14): "');
    expect(text).toContain('by Ada Lovelace (git)');
    rmSync(repo.path('.git/index.lock'));
  });
});

describe('damage costs speed and never an answer', () => {
  const kinds = ['brief', 'recent', 'records'] as const;

  test('also of any byte', async () => {
    await prepared();
    await world.put('first', 'quince and medlar');
    await world.keep();
    const good = new Map(kinds.map((kind) => [kind, readFileSync(world.file(kind))]));
    const damage = fc.record({
      kind: fc.constantFrom(...kinds),
      at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      how: fc.constantFrom('cut' as const, 'bits' as const, 'header' as const),
      bits: fc.integer({ min: 1, max: 255 }),
    });
    await fc.assert(
      fc.asyncProperty(damage, async ({ kind, at, how, bits }) => {
        for (const [one, bytes] of good) writeFileSync(world.file(one), bytes);
        const bytes = Buffer.from(good.get(kind) ?? '');
        const place = Math.floor(at * (how === 'header' ? 400 : bytes.length));
        bytes[place] = (bytes[place] ?? 0) ^ bits;
        writeFileSync(world.file(kind), how === 'cut' ? bytes.subarray(0, place) : bytes);
        await world.expectHonest();
      }),
      { numRuns: runs(60) },
    );
  });

  deep.each(kinds)('and %s is made again', async (kind) => {
    await prepared();
    await world.put('first', 'quince and medlar');
    await world.keep();
    for (const share of [0.01, 0.4, 0.99]) {
      const bytes = readFileSync(world.file(kind));
      writeFileSync(world.file(kind), bytes.subarray(0, Math.floor(share * bytes.length)));
      // A hook of its own process, which could not answer.
      await world.restart();
      await world.keep(true);
      await world.restart();
      await world.keep(true);
      await world.expectQuick();
    }
  });

  deep('where the changes belong to another base, or to another state of the files', async () => {
    const { repo } = await prepared();
    await world.put('first', 'quince');
    await world.keep();
    const before = new Map(kinds.map((kind) => [kind, readFileSync(world.file(kind))]));
    for (let i = 0; i < 40; i++) await world.put(`more-${i}`, 'medlar');
    repo.write('.memory-bank/knowledge/patterns/by-hand.md', 'quince and medlar\n');
    await world.keep();
    await world.expectQuick();
    const after = new Map(kinds.map((kind) => [kind, readFileSync(world.file(kind))]));
    for (let mask = 0; mask < 8; mask++) {
      for (const [at, kind] of kinds.entries()) {
        const bytes = ((mask >> at) & 1 ? before : after).get(kind);
        writeFileSync(world.file(kind), bytes ?? '');
      }
      await world.expectHonest();
    }
  });

  deep('where a file has the time that it had before a change', async () => {
    const { repo } = await prepared();
    const path = repo.path('.memory-bank/knowledge/decisions/note-0.md');
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('alder', 'quick'));
    utimesSync(path, 1e9, 1e9);
    await world.keep();
    await world.expectQuick();
    writeFileSync(path, text.replace('alder', 'birch'));
    utimesSync(path, 1e9, 1e9);
    await world.expectHonest();
  });
});

deep('two servers keep one digest, whichever of them has made a change', async () => {
  await prepared();
  const other = new App({
    place: { flag: world.repo.root, env: {}, cwd: world.repo.root, home: '/home/nobody' },
    homeFolder: newFolder(),
    durability: 'relaxed',
    log: () => {},
  });
  const session = other.connect();
  try {
    for (let i = 0; i < 3; i++) {
      await world.put(`one-${i}`, 'quince and medlar');
      await other.call(session, 'memory_write', {
        category: 'patterns',
        key: `two-${i}`,
        value: 'elm',
      });
      await setTimeout(60);
      await Promise.all([
        other.run(session, 'digest', {}, (context) => keepDigest(context)),
        world.keep(),
      ]);
      await world.expectQuick();
    }
  } finally {
    await other.close();
  }
});
