import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configFile, isUsed, type McpClient } from '../../src/cli/setup/client/client.ts';
import { placed } from '../../src/cli/setup/client/client-place.ts';
import { clients } from '../../src/cli/setup/client/client-table.ts';
import { trustNote } from '../../src/cli/setup/client/trust-state.ts';
import { waitingNote } from '../../src/cli/setup/client/waiting-setting.ts';
import { jsonWithComments } from '../../src/cli/setup/language/json-entry.ts';
import { applyEdit } from '../../src/cli/setup/plan/file-edit.ts';
import { planSetup } from '../../src/cli/setup/plan/setup-plan.ts';
import type { Surroundings } from '../../src/cli/setup/program/surroundings.ts';
import { deep } from '../support/depth.ts';
import { newFolder } from '../support/process.ts';
import { linked } from '../support/windows.ts';

const fixtures = resolve(import.meta.dirname, '../fixtures/clients');
const programs = { shared: ['memory-bank'], personal: ['node', '/opt/memory-bank/dist/main.cjs'] };
const agent = { options: [], profile: 'agent' } as const;

/** The places of a setup: a project, and a home directory next to it. */
class Place {
  readonly around: Surroundings = {
    ...{ root: newFolder(), home: newFolder(), env: {}, platform: 'linux' },
  };

  write(path: string, text: string): string {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  /** Writes the configuration of a client. */
  configure(client: McpClient, text: string): string {
    return this.write(placed(client.files[0] ?? '', this.around), text);
  }

  /** Plans a setup, and carries it out. */
  async setUp(names: readonly string[], { undo = false, hooks = false, isNamed = true } = {}) {
    const plan = await planSetup({
      ...{ names, isNamed, hooks, instructions: [], programs, around: this.around },
      server: undo ? undefined : agent,
      mayReplace: async () => false,
    });
    for (const edit of plan.edits) await applyEdit(edit, this.around);
    return plan;
  }
}

function clientNamed(name: string): McpClient {
  const client = clients[name];
  if (!client) throw new Error(`There is no client ${name}.`);
  return client;
}

/** The fixture in the language of a client. */
function beforeOf(client: McpClient): string {
  const ending = client.language === jsonWithComments ? '.jsonc' : extname(client.files[0] ?? '');
  const own = { '.json': '.json', '.jsonc': '.jsonc', '.toml': '.toml', '.yaml': '.yaml' }[ending];
  return readFileSync(join(fixtures, `before${own}`), 'utf8');
}

describe.each(Object.keys(clients))('the configuration of %s', (name) => {
  const client = clientNamed(name);
  const before = beforeOf(client);

  it('gets the entry in the form of the client', async () => {
    const place = new Place();
    const path = place.configure(client, client.base ?? before);
    await place.setUp([name]);
    // The option names the folder of this run.
    const root = JSON.stringify(place.around.root).slice(1, -1);
    const text = readFileSync(path, 'utf8').replaceAll(root, '/project');
    await expect(text).toMatchFileSnapshot(join(fixtures, `${name}${extname(path)}`));
  });

  it.each([
    ['no file', undefined],
    ['a file', before],
    ['line ends of Windows', before.replaceAll('\n', '\r\n')],
    ['no line end at its end', before.trimEnd()],
  ])('gets it once, and undo restores it byte for byte: %s', async (_, text) => {
    const place = new Place();
    const path = placed(client.files[0] ?? '', place.around);
    if (text !== undefined) place.configure(client, text);
    const first = await place.setUp([name]);
    expect(first.untouched).toEqual([]);
    const after = readFileSync(path, 'utf8');
    expect(after).not.toBe(text);
    expect(after.includes('\r\n')).toBe(text?.includes('\r\n') === true);
    expect((await place.setUp([name])).edits).toEqual([]);
    await place.setUp([name], { undo: true });
    expect(existsSync(path) ? readFileSync(path, 'utf8') : undefined).toBe(text);
  });

  it('gets hooks or a section for agents, and undo removes them', async () => {
    const place = new Place();
    const { edits, outcomes } = await place.setUp([name], { hooks: true });
    expect(edits.length).toBeGreaterThan(name === 'gemini' || name === 'qwen' ? 0 : 1);
    expect(outcomes).toHaveLength(1);
    expect(outcomes[0]).toMatch(/^.*: the server in .* \(added\); .* \(added\)\. .*\.$/);
    expect((await place.setUp([name], { hooks: true })).edits).toEqual([]);
    await place.setUp([name], { undo: true });
    expect(edits.filter(({ path }) => existsSync(path))).toEqual([]);
  });

  it.each([
    ['a syntax error', '{"mcp": '],
    ['a list at its top', '- 1\n- 2\n[['],
  ])('is left alone with %s', async (_, text) => {
    const place = new Place();
    const path = place.configure(client, text);
    const { edits, untouched } = await place.setUp([name]);
    expect(edits).toEqual([]);
    expect(untouched).toMatchObject([{ path }]);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('is left alone where another server has the name', async () => {
    const place = new Place();
    const path = place.configure(client, client.base ?? before);
    await place.setUp([name]);
    const other = readFileSync(path, 'utf8')
      .replace(/"memory-bank"(?=,?\s*[\]\n,])|memory-bank(?=\r?\n *args)/, '"other"')
      .replaceAll('/opt/memory-bank/dist/main.cjs', '/opt/other.js');
    writeFileSync(path, other);
    const again = await place.setUp([name]);
    expect(again.untouched).toMatchObject([{ path, isForeign: true }]);
    expect((await place.setUp([name], { undo: true })).edits).toEqual([]);
    expect(readFileSync(path, 'utf8')).toBe(other);
  });
});

describe('a setup of clients', () => {
  it('finds those that are in use, by their folders in the project and at home', () => {
    const { around } = new Place();
    const used = () => Object.keys(clients).filter((name) => isUsed(clientNamed(name), around));
    expect(used()).toEqual([]);
    for (const folder of ['.kiro', '.zed']) mkdirSync(join(around.root, folder));
    for (const folder of ['.qwen', '.config/goose']) {
      mkdirSync(join(around.home, folder), { recursive: true });
    }
    expect(used()).toEqual(['zed', 'kiro', 'goose', 'qwen']);
  });

  linked('does not follow a link out of the project, and does the rest', async () => {
    const place = new Place();
    const outside = place.write(join(newFolder(), 'mcp.json'), '{}\n');
    mkdirSync(join(place.around.root, '.kiro/settings'), { recursive: true });
    symlinkSync(outside, join(place.around.root, '.kiro/settings/mcp.json'));
    const { edits, untouched } = await place.setUp(['kiro', 'zed']);
    expect(untouched).toMatchObject([{ reason: expect.stringContaining('link') }]);
    expect(edits.map(({ path }) => path)).toEqual([join(place.around.root, '.zed/settings.json')]);
    expect(readFileSync(outside, 'utf8')).toBe('{}\n');
  });

  it('leaves a read-only file alone', async () => {
    const place = new Place();
    const path = place.configure(clientNamed('droid'), '{}\n');
    chmodSync(path, 0o444);
    const { untouched } = await place.setUp(['droid']);
    expect(untouched).toEqual([{ path, reason: 'it is read-only' }]);
    expect(readFileSync(path, 'utf8')).toBe('{}\n');
  });

  deep('edits a file of 5 MB, and refuses YAML of that size', async () => {
    const place = new Place();
    const long = `{\n  "note": "${'x'.repeat(5_000_000)}"\n}\n`;
    const path = place.configure(clientNamed('qwen'), long);
    place.configure(clientNamed('goose'), `note: ${'x'.repeat(5_000_000)}\n`);
    const { untouched } = await place.setUp(['qwen', 'goose']);
    expect(untouched).toMatchObject([{ reason: expect.stringContaining('bytes of YAML') }]);
    await place.setUp(['qwen'], { undo: true });
    expect(readFileSync(path, 'utf8') === long).toBe(true);
  });

  it('keeps the forms of both versions of a client up to date, and takes both back', async () => {
    const place = new Place();
    const entry = { type: 'local', command: ['memory-bank', '--profile', 'agent'] };
    const both = { mcp: { 'memory-bank': entry, servers: { 'memory-bank': entry } } };
    const path = place.configure(clientNamed('opencode'), JSON.stringify(both, null, 2));
    await place.setUp(['opencode']);
    const { mcp } = JSON.parse(readFileSync(path, 'utf8'));
    const wanted = {
      ...{ type: 'local', command: ['memory-bank'] },
      environment: { MEMORY_BANK_PROFILE: 'agent' },
    };
    expect(mcp).toEqual({ 'memory-bank': wanted, servers: { 'memory-bank': wanted } });
    await place.setUp(['opencode'], { undo: true });
    expect(existsSync(path)).toBe(false);
  });

  it('writes the form of the version that a file has', async () => {
    const place = new Place();
    const path = place.configure(clientNamed('opencode'), '{"mcp": {"servers": {"x": {}}}}\n');
    await place.setUp(['opencode']);
    expect(Object.keys(JSON.parse(readFileSync(path, 'utf8')).mcp.servers)).toEqual([
      'x',
      'memory-bank',
    ]);
  });

  it('adds an entry to a list of servers with names, and takes only that one back', async () => {
    const place = new Place();
    const other = '  - name: other # mine\n    command: x\n';
    const text = `name: Me\nmcpServers: # all\n${other}\n  # the next\n${other.replace('other', 'two')}models: []\n`;
    const path = place.configure(clientNamed('continue-cli'), text);
    await place.setUp(['continue-cli']);
    const entry = '  - name: memory-bank\n    command: node\n';
    expect(readFileSync(path, 'utf8').indexOf(entry)).toBe(text.indexOf('models:'));
    await place.setUp(['continue-cli'], { undo: true });
    expect(readFileSync(path, 'utf8')).toBe(text);
    place.configure(clientNamed('continue-cli'), 'name: Me\nmcpServers: []\n');
    const { edits, untouched } = await place.setUp(['continue-cli']);
    expect(edits).toEqual([]);
    expect(untouched).toMatchObject([{ reason: expect.stringContaining('not a list with items') }]);
  });

  it.each([
    '{"mcpServers": {}}\n',
    '{\n  "mcpServers": {\n  },\n  "theme": "dark"\n}\n',
    '{\r\n\t"hooks": { },\r\n\t"mcpServers": {}\r\n}',
    '{"hooks": {"PreToolUse": []}}',
  ])('is as before after undo where its object was there and empty: %j', async (before) => {
    const place = new Place();
    const gemini = clientNamed('gemini');
    const path = place.configure(gemini, before);
    await place.setUp(['gemini'], { hooks: true });
    expect(readFileSync(path, 'utf8')).not.toBe(before);
    await place.setUp(['gemini'], { hooks: true });
    await place.setUp(['gemini'], { undo: true });
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  it.each([
    ['no file', undefined],
    ['other settings', '{\n  "model": "x",\n  "hooks": {}\n}\n'],
    ['an empty list', '{\r\n\t"commandAllowlist": []\r\n}'],
    ['its own choice', '{\n  "blockOnMcpLoad": false\n}\n'],
    ['its own wait', '{ "blockOnMcpLoad": true, "model": "x" }\n'],
  ])('lets a client wait for the server, and takes that back: %s', async (_, before) => {
    const place = new Place();
    const droid = clientNamed('droid');
    const path = join(place.around.root, '.factory/settings.json');
    if (before !== undefined) place.write(path, before);
    const isChosen = before?.includes('blockOnMcpLoad') === true;
    expect(waitingNote(droid, place.around) === undefined).toBe(isChosen);
    const { outcomes } = await place.setUp(['droid']);
    expect(outcomes[0]).toContain(
      `"blockOnMcpLoad" in .factory/settings.json (${isChosen ? 'as it was' : 'added'})`,
    );
    expect(waitingNote(droid, place.around)).toBeUndefined();
    if (!isChosen) expect(JSON.parse(readFileSync(path, 'utf8')).blockOnMcpLoad).toBe(true);
    expect((await place.setUp(['droid'])).edits).toEqual([]);
    const undo = await place.setUp(['droid'], { undo: true });
    expect(existsSync(path) ? readFileSync(path, 'utf8') : undefined).toBe(before);
    expect(undo.outcomes.length).toBe(isChosen ? 1 : 0);
  });

  it('lets a client not wait for a server of another program', async () => {
    const place = new Place();
    place.configure(
      clientNamed('droid'),
      '{"mcpServers": {"memory-bank": {"command": "other"}}}\n',
    );
    expect((await place.setUp(['droid'])).edits).toEqual([]);
    const path = join(place.around.root, '.factory/settings.json');
    const own = '{\n  "blockOnMcpLoad": true\n}\n';
    place.write(path, own);
    await place.setUp(['droid'], { undo: true });
    expect(readFileSync(path, 'utf8')).toBe(own);
  });

  it('serves two forms of a client side by side, each in its own file', async () => {
    const place = new Place();
    const paths = clientNamed('cline').files.map((file) => placed(file, place.around));
    const before = '{\n  "mcpServers": {\n    "other": {}\n  }\n}\n';
    for (const path of paths) place.write(path, before);
    const { edits } = await place.setUp(['cline']);
    expect(edits.map(({ path }) => path).sort()).toEqual([...paths].sort());
    await place.setUp(['cline'], { undo: true });
    expect(paths.map((path) => readFileSync(path, 'utf8'))).toEqual([before, before]);
  });

  it('takes the file that is there, or has the entry', () => {
    const place = new Place();
    const client = clientNamed('crush');
    const { root } = place.around;
    expect(configFile(client, place.around)).toBe(join(root, 'crush.json'));
    const hidden = place.write(join(root, '.crush.json'), '{"mcp": {"memory-bank": {}}}');
    expect(configFile(client, place.around)).toBe(hidden);
    place.write(join(root, 'crush.json'), '{}');
    expect(configFile(client, place.around)).toBe(hidden);
  });

  it('is not stopped by a home directory that cannot be read', async () => {
    const place = new Place();
    const home = place.write(join(newFolder(), 'home'), 'a file');
    const around = { ...place.around, home };
    expect(Object.values(clients).filter((client) => isUsed(client, around))).toEqual([]);
    const { edits, untouched } = await planSetup({
      ...{ names: ['codex', 'zed'], hooks: false, instructions: [], programs, around },
      server: agent,
      mayReplace: async () => false,
    });
    expect(edits.length + untouched.length).toBe(2);
  });

  it.each([
    ['codex', false],
    ['goose', false],
    ['augment', false],
    ['cline', true],
    ['devin-desktop', true],
  ])('takes the entry of %s back without its name: %s', async (name, isTaken) => {
    const place = new Place();
    await place.setUp([name]);
    const path = configFile(clientNamed(name), place.around);
    const { outcomes } = await place.setUp([name], { undo: true, isNamed: false });
    expect(existsSync(path)).toBe(!isTaken);
    if (!isTaken) expect(outcomes[0]).toMatch(/serves all projects: .*--undo --clients/);
  });

  it('leaves a script of a person in the place of a hook alone', async () => {
    const place = new Place();
    const mine = '#!/bin/sh\necho memory-bank\n';
    const path = place.write(join(place.around.root, '.clinerules/hooks/TaskStart'), mine);
    const { untouched } = await place.setUp(['cline'], { hooks: true });
    expect(untouched).toMatchObject([
      { path, reason: expect.stringContaining('script of its own') },
    ]);
    await place.setUp(['cline'], { undo: true });
    expect(readFileSync(path, 'utf8')).toBe(mine);
  });
});

describe('a script of a hook', () => {
  const silence = { status: 0, stdout: '{"cancel":false}', stderr: '' };

  it.skipIf(process.platform === 'win32').each([
    ['a missing program', undefined, silence],
    ['an older program', 'echo Usage >&2; exit 2', silence],
    ['a program that prints something else', 'echo Usage', silence],
    ['a program that fails after an answer', 'echo {}; exit 2', silence],
    [
      'an answer',
      'echo \'{"contextModification":"x"}\'',
      { ...silence, stdout: '{"contextModification":"x"}' },
    ],
  ])('stops nobody: %s', async (_, body, expected) => {
    const place = new Place();
    await place.setUp(['cline'], { hooks: true });
    const script = join(place.around.root, '.clinerules/hooks/TaskStart');
    const bin = newFolder();
    for (const tool of ['sh', 'uname']) symlinkSync(`/bin/${tool}`, join(bin, tool));
    if (body !== undefined) {
      writeFileSync(join(bin, 'memory-bank'), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    }
    const { status, stdout, stderr } = spawnSync(script, {
      env: { PATH: bin },
      input: '{}',
      encoding: 'utf8',
    });
    expect({ status, stdout, stderr }).toEqual(expected);
  });
});

describe('the approval of a client', () => {
  it.each([
    ['claude', '~/.claude.json', { projects: {} }, { enabledMcpjsonServers: ['memory-bank'] }],
    ['gemini', '~/.gemini/trustedFolders.json', {}, 'TRUST_FOLDER'],
    ['qwen', '~/.qwen/trustedFolders.json', {}, 'TRUST_FOLDER'],
    ['copilot', '~/.copilot/config.json', { trusted_folders: [] }, undefined],
  ])('is read for %s', (name, file, pending, approved) => {
    const place = new Place();
    const { root } = place.around;
    const client = clientNamed(name);
    const path = placed(file, place.around);
    expect(trustNote(client, place.around)).toBeUndefined();
    const settings = placed(`~/.${name}/settings.json`, place.around);
    const folderTrust = (enabled: boolean) =>
      place.write(settings, JSON.stringify({ security: { folderTrust: { enabled } } }));
    if (client.trustFile?.asks) {
      // A user who was not asked yet has no file.
      folderTrust(true);
      expect(trustNote(client, place.around)).toContain(client.trust);
      place.write(settings, '{}');
      expect(trustNote(client, place.around) === undefined).toBe(name === 'qwen');
      folderTrust(false);
      expect(trustNote(client, place.around)).toBeUndefined();
      folderTrust(true);
    }
    place.write(path, JSON.stringify(pending));
    const act = name === 'claude' ? 'uses it with `-p` only' : 'does not use that yet';
    expect(trustNote(client, place.around)).toContain(`${act}, as ${path} shows. ${client.trust}`);
    const state =
      name === 'claude'
        ? { projects: { [root]: approved } }
        : name === 'copilot'
          ? { trusted_folders: [root] }
          : { [root]: approved };
    place.write(path, JSON.stringify(state));
    expect(trustNote(client, place.around)).toBeUndefined();
  });
});
