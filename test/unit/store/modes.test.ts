import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Modes } from '../../../src/core/declarations/context.ts';
import { Session } from '../../../src/core/memory/session.ts';
import { NodeFiles } from '../../../src/git/disk/node-files.ts';
import { accessOf } from '../../../src/store/modes/access.ts';
import { ModeLibrary } from '../../../src/store/modes/mode-library.ts';
import { sessionModes } from '../../../src/store/modes/session-modes.ts';
import { corpus } from '../../support/corpus.ts';
import { linked } from '../../support/windows.ts';

const five = ['architect', 'code', 'ask', 'debug', 'test'];

/** The text of a valid rule file with one instruction. */
function rule(mode: string, instruction = 'Go.', more: object = {}): string {
  return JSON.stringify({ mode, instructions: { general: [instruction], ...more } });
}

/** A disk that records the reads. */
class NotedFiles extends NodeFiles {
  readonly reads: string[] = [];

  override read(path: string, limit?: number) {
    this.reads.push(basename(path));
    return super.read(path, limit);
  }
}

/** The folder of a project, edited as by a person. */
class Folder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
    mkdirSync(path, { recursive: true });
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.path, name), text);
  }

  remove(name: string): void {
    rmSync(join(this.path, name), { recursive: true });
  }
}

let files: NotedFiles;
let root: Folder;
let bank: Folder;
let library: ModeLibrary;
let session: Session;
let modes: Modes;

beforeEach(() => {
  root = new Folder(mkdtempSync(join(tmpdir(), 'modes-')));
  bank = new Folder(join(root.path, '.memory-bank/rules'));
  files = new NotedFiles();
  library = new ModeLibrary(files, root.path, join(root.path, '.memory-bank'));
  session = new Session(() => '01TEST');
  modes = sessionModes(library, session);
});

afterEach(() => {
  vi.useRealTimers();
  root.remove('');
});

async function instructionsOf(name: string): Promise<readonly string[] | undefined> {
  return (await modes.list()).modes.find((mode) => mode.name === name)?.instructions;
}

describe('the built-in modes', () => {
  it('are the five of the rule files', async () => {
    const { modes: all, skipped } = await modes.list();
    expect(skipped).toEqual([]);
    expect(all.map((mode) => mode.name)).toEqual(five);
    expect(all).toMatchSnapshot();
  });

  it('are written in JSON, YAML and TOML', async () => {
    const folder = join(import.meta.dirname, '../../../rules');
    const extensions = readdirSync(folder).map((name) => name.replace(/^\w+\./, ''));
    expect([...new Set(extensions)].sort()).toEqual(['json', 'toml', 'yaml']);
  });

  it('read everything, and update the files of their task', async () => {
    const files = [
      'productContext.md',
      'decisionLog.md',
      'systemPatterns.md',
      'activeContext.md',
      'progress.md',
      'design/auth.md',
      'graph/features/auth/oauth.yaml',
      'documents/decision/jwt-1a2b3c4d.md',
      'knowledge/patterns/errors.md',
      'banks/projects/web/progress.md',
    ];
    const written: Record<string, string[]> = {};
    for (const mode of (await modes.list()).modes) {
      const access = accessOf(mode, false);
      expect(files.filter((file) => access.mayRead(file))).toEqual(files);
      expect(files.filter((file) => accessOf(mode, true).mayWrite(file))).toEqual(files);
      written[mode.name] = files.filter((file) => access.mayWrite(file));
    }
    const but = (...names: string[]) =>
      files.filter((file) => !names.some((name) => file.startsWith(name)));
    expect(written).toEqual({
      architect: files,
      code: but('productContext', 'design'),
      ask: but('productContext', 'decisionLog', 'systemPatterns', 'design', 'graph', 'banks'),
      debug: but('productContext', 'systemPatterns', 'design'),
      test: but('productContext', 'decisionLog', 'design'),
    });
  });
});

describe('the rule files of a project', () => {
  it('override the built-in ones; those of the memory override those of the root', async () => {
    root.write('.clinerules-code', rule('code', 'root'));
    root.write('.clinerules-ask', rule('ask', 'root'));
    bank.write('code.json', rule('code', 'bank'));
    const all = (await modes.list()).modes;
    expect(all.map((mode) => mode.name)).toEqual(five);
    const found = Object.fromEntries(all.map((mode) => [mode.name, mode.source]));
    expect(found).toEqual({
      architect: 'built-in',
      code: '.memory-bank/rules/code.json',
      ask: '.clinerules-ask',
      debug: 'built-in',
      test: 'built-in',
    });
    expect(await instructionsOf('code')).toEqual(['bank']);
  });

  it('add modes, sorted by name after the five', async () => {
    root.write('.clinerules-zen.yaml', 'mode: zen\ninstructions: { general: [Breathe.] }');
    bank.write('docs-writer.toml', 'mode = "docs-writer"\n[instructions]\ngeneral = []');
    bank.write('constructor.json', rule('constructor'));
    const names = (await modes.list()).modes.map((mode) => mode.name);
    expect(names).toEqual([...five, 'constructor', 'docs-writer', 'zen']);
  });

  it('are skipped with the reason if they are broken, and override nothing', async () => {
    root.write('.clinerules-code', rule('code', 'root'));
    root.write('.clinerules-ask', 'You are a helpful assistant.');
    bank.write('code.yaml', 'mode: code\ninstructions: [');
    bank.write('zen.json', rule('koan'));
    bank.write('no mode.json', rule('no mode'));
    bank.write('debug.json', 'x'.repeat(256 * 1024 + 1));
    const { modes: all, skipped } = await modes.list();
    expect(all.map((mode) => mode.name)).toEqual(five);
    expect(await instructionsOf('code')).toEqual(['root']);
    expect(skipped).toEqual([
      {
        source: '.clinerules-ask',
        reason: expect.stringMatching(/^cannot be read as JSON, TOML, YAML/),
      },
      {
        source: '.memory-bank/rules/debug.json',
        reason: 'has more than 256 KiB',
      },
      {
        source: '.memory-bank/rules/no mode.json',
        reason: 'does not have a valid mode in its name',
      },
      {
        source: '.memory-bank/rules/zen.json',
        reason: 'says mode "koan", but its name says "zen"',
      },
      {
        source: '.memory-bank/rules/code.yaml',
        reason: expect.stringMatching(/^cannot be read as YAML/),
      },
    ]);
  });

  it('count once for a mode, in order: no extension, json, yaml, yml, toml', async () => {
    const toml = 'mode = "zen"\n[instructions]\ngeneral = ["toml"]';
    root.write('.clinerules-zen.toml', toml);
    root.write('.clinerules-zen.yml', rule('zen', 'yml'));
    expect(await instructionsOf('zen')).toEqual(['yml']);
    root.write('.clinerules-zen', rule('zen', 'plain'));
    root.write('.clinerules-zen.json', 'broken');
    expect(await instructionsOf('zen')).toEqual(['plain']);
    expect((await modes.list()).skipped).toEqual([
      { source: '.clinerules-zen.json', reason: expect.stringMatching(/^cannot be read as JSON/) },
      { source: '.clinerules-zen.yml', reason: '.clinerules-zen takes precedence' },
      { source: '.clinerules-zen.toml', reason: '.clinerules-zen takes precedence' },
    ]);
    root.remove('.clinerules-zen');
    root.remove('.clinerules-zen.yml');
    expect(await instructionsOf('zen')).toEqual(['toml']);
  });

  it('do not include other files', async () => {
    root.write('.clinerules', rule('code', 'general'));
    root.write('code.json', rule('code', 'root'));
    bank.write('README.md', 'About our rules');
    bank.write('code', rule('code', 'bank'));
    const { modes: all, skipped } = await modes.list();
    expect(all.map((mode) => mode.source)).toEqual(five.map(() => 'built-in'));
    expect(skipped).toEqual([]);
    expect(files.reads).not.toContain('README.md');
  });

  it('are read again when they change, and only then', async () => {
    bank.write('other.json', rule('other'));
    bank.write('zen.json', rule('zen', 'one'));
    // Late enough that the next change gets another timestamp.
    vi.setSystemTime(Date.now() + 10_000);
    expect(await instructionsOf('zen')).toEqual(['one']);
    files.reads.length = 0;
    expect(await instructionsOf('zen')).toEqual(['one']);
    expect(files.reads).toEqual([]);
    bank.write('zen.json', rule('zen', 'three'));
    expect(await instructionsOf('zen')).toEqual(['three']);
    expect(files.reads).toEqual(['zen.json']);
    bank.remove('');
    expect(await instructionsOf('zen')).toBeUndefined();
  });

  it('are read again after any change, however soon, at the same size', async () => {
    for (const word of ['one', 'two', 'six', 'ten']) {
      bank.write('zen.json', rule('zen', word));
      expect(await instructionsOf('zen')).toEqual([word]);
    }
  });

  linked('are regular files: folders and links are skipped', async () => {
    mkdirSync(join(root.path, '.clinerules'));
    mkdirSync(join(root.path, '.clinerules-code'));
    root.write('elsewhere', rule('ask', 'elsewhere'));
    symlinkSync('elsewhere', join(root.path, '.clinerules-ask'));
    const { modes: all, skipped } = await modes.list();
    expect(all.map((mode) => mode.source)).toEqual(five.map(() => 'built-in'));
    const reason = 'is not a regular file';
    expect(skipped).toEqual([
      { source: '.clinerules-ask', reason },
      { source: '.clinerules-code', reason },
    ]);
  });

  it('that cannot be read are also skipped', async () => {
    root.write('.clinerules-code', rule('code'));
    vi.spyOn(files, 'read').mockImplementation((path) => {
      if (!path.endsWith('.clinerules-code')) return readFileSync(path);
      throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    });
    expect((await modes.list()).skipped).toEqual([
      { source: '.clinerules-code', reason: 'cannot be read (EACCES)' },
    ]);
  });

  it.skipIf(!corpus)('of the corpus load or are reported, every one', async () => {
    const paths = readdirSync(corpus ?? '', { encoding: 'utf8', recursive: true }).filter((path) =>
      /(^|\/)\.clinerules-[^/]*$/.test(path),
    );
    let loaded = 0;
    let reported = 0;
    for (const folder of new Set(paths.map((path) => join(corpus ?? '', dirname(path))))) {
      const { modes: all, skipped } = new ModeLibrary(files, folder, folder).load();
      loaded += [...all.values()].filter((mode) => mode.source !== 'built-in').length;
      reported += skipped.length;
    }
    expect([paths.length, loaded, reported]).toEqual([69, 35, 34]);
  });
});

describe('the mode of a session', () => {
  it('is unset at first, then set, then ended', async () => {
    expect(await modes.current()).toBeUndefined();
    expect((await modes.switch('debug'))?.name).toBe('debug');
    expect((await modes.current())?.name).toBe('debug');
    const other = sessionModes(library, new Session(() => '02TEST'));
    expect(await other.current()).toBeUndefined();
    expect((await sessionModes(library, session).current())?.name).toBe('debug');
    expect(await modes.switch(null)).toBeUndefined();
    expect(await modes.current()).toBeUndefined();
  });

  it('cannot be one whose rule files are all unusable, which names them with the reasons', async () => {
    await modes.switch('code');
    root.write('.clinerules-zen', 'just prose');
    bank.write('zen.json', rule('koan'));
    await expect(modes.switch('zen')).rejects.toMatchObject({
      code: 'damaged',
      message: expect.stringMatching(
        /^The mode "zen" is unusable: \.clinerules-zen cannot be read as .*; \.memory-bank\/rules\/zen\.json says mode "koan", but its name says "zen"$/,
      ),
      data: { mode: 'zen', paths: ['.clinerules-zen', '.memory-bank/rules/zen.json'] },
    });
    expect((await modes.current())?.name).toBe('code');
    // A broken file does not override a usable one.
    bank.write('ask.json', 'broken');
    expect((await modes.switch('ask'))?.source).toBe('built-in');
  });

  it('cannot be "none", the name that ends a mode', async () => {
    bank.write('none.json', rule('none'));
    const reason = 'is for a mode "none", which is a reserved name';
    const { modes: all, skipped } = await modes.list();
    expect(all.map(({ name }) => name)).toEqual(five);
    expect(skipped).toEqual([{ source: '.memory-bank/rules/none.json', reason }]);
  });

  it.each(['nothing', '../code', 'code.yaml', 'Code', '', '__proto__', 'toString'])(
    'cannot be %j',
    async (name) => {
      await modes.switch('code');
      await expect(modes.switch(name)).rejects.toMatchObject({
        code: 'not_found',
        message: `There is no mode "${name}".`,
        hint: 'Known modes: architect, code, ask, debug, test.',
      });
      expect((await modes.current())?.name).toBe('code');
    },
  );

  it('follows its rule file, and keeps its last rules if the file breaks or is removed', async () => {
    const empty = { memory_bank: { files_to_update: [] } };
    bank.write('zen.json', rule('zen', 'one'));
    await modes.switch('zen');
    expect((await modes.current())?.filesToUpdate).toBeUndefined();
    bank.write('zen.json', rule('zen', 'two', empty));
    expect((await modes.current())?.filesToUpdate).toEqual([]);
    bank.write('zen.json', '{');
    expect((await modes.current())?.filesToUpdate).toEqual([]);
    bank.remove('zen.json');
    expect((await modes.current())?.filesToUpdate).toEqual([]);
    bank.write('zen.json', rule('zen', 'three'));
    expect((await modes.current())?.instructions).toEqual(['three']);
  });

  it('is updating until it is done or another mode is set', async () => {
    await modes.switch('code');
    expect(modes.updating).toBe(false);
    modes.setUpdating(true);
    await modes.switch('code');
    expect(modes.updating).toBe(true);
    expect(sessionModes(library, new Session(() => '02TEST')).updating).toBe(false);
    modes.setUpdating(false);
    expect(modes.updating).toBe(false);
    for (const next of ['ask', null]) {
      modes.setUpdating(true);
      await modes.switch(next);
      expect(modes.updating).toBe(false);
    }
  });
});

describe('the update command', () => {
  /** The messages that are the command in a mode with this trigger. */
  async function commands(trigger: string | undefined, messages: string[]): Promise<string[]> {
    bank.write('zen.json', rule('zen', 'Go.', trigger === undefined ? {} : { umb: { trigger } }));
    await modes.switch('zen');
    const said = await Promise.all(messages.map((message) => modes.isUmbCommand(message)));
    return messages.filter((_, i) => said[i]);
  }

  it('is the standard one without a mode, without a trigger, and if the trigger is the name of a mode', async () => {
    const yes = ['UMB', ' umb\n', 'Update Memory Bank', 'update memory bank'];
    const no = ['zen', 'umbrella', 'please UMB', 'update the memory bank', ''];
    for (const message of yes) expect(await modes.isUmbCommand(message)).toBe(true);
    for (const message of no) expect(await modes.isUmbCommand(message)).toBe(false);
    for (const trigger of [undefined, 'zen', 'architect', '^(Update Memory Bank|UMB)$']) {
      expect(await commands(trigger, [...yes, ...no])).toEqual(yes);
    }
  });

  it('is a pattern for the whole message, or a literal text if it is not a pattern', async () => {
    expect(await commands('^UMB:', ['umb:', 'UMB: now', 'UMB'])).toEqual(['umb:']);
    expect(await commands('save( all)?', ['Save', 'save all', 'saved', 'UMB'])).toEqual([
      'Save',
      'save all',
    ]);
    expect(await commands('(save', ['save', '(SAVE'])).toEqual(['(SAVE']);
    expect(await commands('(?=x)(y+)+\\1', ['xy', '(?=x)(y+)+\\1'])).toEqual(['(?=x)(y+)+\\1']);
    expect(await commands('(a+)+$', [`${'a'.repeat(250)}!`, 'aaa'])).toEqual(['aaa']);
  });
});

describe('mode triggers', () => {
  function withTriggers(mode: string, mode_triggers: object): string {
    return JSON.stringify({ mode, instructions: { general: [] }, mode_triggers });
  }

  it('find the mode with the longest phrase in the message, ignoring case', async () => {
    expect(await modes.triggeredBy('Please WRITE TESTS for it')).toBe('test');
    expect(await modes.triggeredBy('what is the best way, and how should we structure it?')).toBe(
      'architect',
    );
    expect(await modes.triggeredBy('Good morning')).toBeUndefined();
  });

  it('lead only to known modes', async () => {
    const phrases = [{ condition: 'meditate' }];
    root.write('.clinerules-zen', withTriggers('zen', { koan: phrases, ['__proto__']: phrases }));
    expect(await modes.triggeredBy('Meditate now')).toBeUndefined();
    root.write('.clinerules-koan', rule('koan'));
    expect(await modes.triggeredBy('Meditate now')).toBe('koan');
  });

  it('of the mode of the session come first', async () => {
    bank.write('zen.json', withTriggers('zen', { debug: [{ condition: 'go' }] }));
    bank.write('alpha.json', withTriggers('alpha', { alpha: [{ condition: 'go there' }] }));
    expect(await modes.triggeredBy('Go there')).toBe('alpha');
    await modes.switch('zen');
    expect(await modes.triggeredBy('Go there')).toBe('debug');
    expect(await modes.triggeredBy('Write tests')).toBe('test');
  });
});
