import { describe, expect, it } from 'vitest';
import type { McpClient } from '../../src/cli/setup/client/client.ts';
import { entriesIn, entryOf } from '../../src/cli/setup/client/client.ts';
import { clients } from '../../src/cli/setup/client/client-table.ts';
import { editHooks, isEmptySettings } from '../../src/cli/setup/hook/client-hooks.ts';
import { hookClients } from '../../src/cli/setup/hook/hook-table.ts';
import { json } from '../../src/cli/setup/language/json-entry.ts';
import { own } from '../../src/core/values/json.ts';
import { runs } from '../support/depth.ts';
import fc from '../support/fc.ts';

const around = { root: '/project', home: '/home/ada', env: {}, platform: 'linux' } as const;
const start = {
  command: 'memory-bank',
  args: [],
  env: { MEMORY_BANK_PROFILE: 'agent' },
};

/** How a generated text is written. */
interface Style {
  readonly unit: string;
  readonly eol: string;
  readonly end: string;
  readonly comments: boolean;
  readonly trailing: boolean;
  /** By which the parts of a text differ; each is used in turn. */
  readonly choices: readonly number[];
}

const word = fc.constantFrom(
  'theme',
  'a b',
  'über',
  'x.y',
  'list',
  'memory',
  'note "q"',
  '//',
  'z#1',
);
const scalar = fc.oneof(
  fc.boolean(),
  fc.integer(),
  fc.constantFrom('', 'dark', 'a # b', '/* c */', '}', "it's", 'C:\\x'),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(word, tie('value'), { maxKeys: 3 }),
  ),
}));

/** Draws JSON in many forms: on one line or several, with comments, blanks and blank lines. */
class JsonDrawing {
  readonly #style: Style;
  #next = 0;

  constructor(style: Style) {
    this.#style = style;
  }

  /** One of several forms. */
  #pick<T>(...forms: readonly [T, ...T[]]): T {
    const { choices } = this.#style;
    const choice = choices[this.#next++ % choices.length] ?? 0;
    return forms[choice % forms.length] ?? forms[0];
  }

  #comment(indent: string): string {
    const { comments, eol } = this.#style;
    if (!comments) return this.#pick('', '', '', eol);
    return this.#pick('', '', `${eol}${indent}// one, "two": {`, ` /* [ */`, eol);
  }

  file(value: unknown): string {
    const head = this.#comment('').trim();
    return (head && head + this.#style.eol) + this.draw(value) + this.#comment('');
  }

  draw(value: unknown, indent = ''): string {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const isList = Array.isArray(value);
    const [open, close] = isList ? '[]' : '{}';
    const members = isList
      ? value.map((one) => ['', one] as const)
      : Object.entries(value).map(
          ([key, one]) => [`${JSON.stringify(key)}:${this.#pick(' ', '', '  ')}`, one] as const,
        );
    const { unit, eol, trailing } = this.#style;
    if (members.length === 0)
      return `${open}${this.#pick('', '', ' ', eol + indent, this.#comment(indent + unit) + eol + indent)}${close}`;
    const isLine = this.#pick(false, false, true);
    const inner = isLine ? indent : indent + unit;
    const parts = members.map(([key, one]) => {
      const gap = isLine ? this.#pick('', ' ') : this.#comment(inner) + eol + inner;
      return gap + key + this.draw(one, inner);
    });
    const after = trailing && this.#pick(true, false) ? ',' : '';
    const last = isLine ? this.#pick('', ' ') : this.#comment(inner) + eol + indent;
    return `${open}${parts.join(`${this.#pick('', '', ' ')},`)}${after}${last}${close}`;
  }
}

const style = fc.record({
  unit: fc.constantFrom('  ', '    ', '\t', ''),
  eol: fc.constantFrom('\n', '\r\n'),
  end: fc.constantFrom('', '\n', '\n\n'),
  comments: fc.boolean(),
  trailing: fc.boolean(),
  choices: fc.array(fc.nat(60), { minLength: 7, maxLength: 23 }),
});

/** A configuration in JSON, which may have other servers and hooks. */
function jsonText(client: McpClient) {
  const { keys } = client.lists[0] ?? { keys: [] };
  const servers = fc.option(
    fc.dictionary(fc.constantFrom('other', 'x'), fc.constant({ command: 'x', args: ['a'] })),
    { nil: undefined },
  );
  const hooks = fc.option(
    fc.constantFrom(
      {},
      { Stop: [] },
      { Stop: [{ hooks: [{ type: 'command', command: 'x' }] }] },
      { SessionStart: [{ hooks: [{ type: 'command', command: 'x' }] }] },
    ),
    { nil: undefined },
  );
  return fc
    .record({
      rest: fc.dictionary(word, value, { maxKeys: 3 }),
      servers,
      hooks,
      first: fc.boolean(),
      bom: fc.boolean(),
      style,
    })
    .map(({ rest, servers, hooks, first, bom, style }) => {
      const list = servers && keys.reduceRight<object>((part, key) => ({ [key]: part }), servers);
      const ours = { ...list, ...(hooks && { hooks }) };
      const all = first ? { ...ours, ...rest } : { ...rest, ...ours };
      const isPlain = client.language === json;
      const drawing = new JsonDrawing(
        isPlain ? { ...style, comments: false, trailing: false } : style,
      );
      return (bom ? '\ufeff' : '') + drawing.file(all) + style.end.replaceAll('\n', style.eol);
    });
}

/** The text after `init`. */
function added(client: McpClient, name: string, text: string): string {
  let edited = text;
  for (const { list, path, present } of entriesIn(client, text)) {
    if (present === undefined)
      edited = client.language.edit(edited, path, entryOf(client, list, start, around));
  }
  const hooks = hookClients[name];
  return hooks && hooks.path.join('/') === client.files[0]
    ? editHooks(edited, hooks, [start.command], around.root, 'add')
    : edited;
}

/** The text after `init --undo`. */
function removed(client: McpClient, name: string, text: string): string {
  let edited = text;
  for (const { path, present } of entriesIn(client, text)) {
    if (present !== undefined) edited = client.language.edit(edited, path, undefined);
  }
  const hooks = hookClients[name];
  return hooks && hooks.path.join('/') === client.files[0]
    ? editHooks(edited, hooks, [start.command], around.root, 'remove')
    : edited;
}

/** Tables, keys and comments of a configuration of Codex. */
const tomlBlocks = [
  '# one',
  '',
  'model = "o3" # the [best]',
  'notify = ["a",\n  "b", # c\n]',
  'text = """\n[mcp_servers.memory-bank]\ncommand = 1\n"""',
  '[projects."/home/ada"]\ntrust_level = "trusted"\n',
  '[mcp_servers.other] # mine\ncommand = "x"\n\n  [mcp_servers.other.env]\n  A = "1"',
  '[mcp_servers.memory-bank-two]\ncommand = "x"\nargs = [\n  "[a]",\n]',
  '[[rules]]\nname = "a"',
  '[[rules]]\nname = "b"\n# end',
  '[tui]',
];

const yamlBlocks = {
  goose: [
    '# one',
    '',
    'GOOSE_MODEL: "x" # mine',
    'list:\n- a\n- b: 1\n  c: 2',
    'text: |\n  extensions:\n    memory-bank: x\n',
    "nested:\n  # two\n  deep:\n    - 'a'\n    - {b: 1}",
    'extensions:\n  other:\n    cmd: x # y\n    args: [a]\n\n  # the next\n  two: {cmd: z}',
    'extensions:\n    other:\n        cmd: x',
  ],
  'continue-cli': [
    '# one',
    '',
    'name: Me',
    'models:\n  - name: a\n    roles: [chat]',
    'mcpServers:\n  - name: other # mine\n    command: x\n\n  # the next\n  - name: two\n    command: y',
    'mcpServers:\n- command: x\n  name: other',
    'rules:\n  - |\n    - name: memory-bank\n      command: z',
  ],
};

/** Texts of some blocks, each key once. */
function textOf(blocks: readonly string[]) {
  return fc
    .record({ chosen: fc.subarray([...blocks, '', '# three']), order: fc.nat(9), style })
    .map(({ chosen, order, style: { eol, end } }) => {
      const turned = [...chosen.slice(order), ...chosen.slice(0, order)];
      // The keys of the top come before tables.
      const sorted =
        blocks === tomlBlocks
          ? turned.sort((a, b) => Number(/^\s*\[/.test(a)) - Number(/^\s*\[/.test(b)))
          : turned;
      const keys = sorted.map((block) => /^([A-Za-z]+):/.exec(block)?.[1]);
      const once = sorted.filter((_, i) => keys[i] === undefined || keys.indexOf(keys[i]) === i);
      return once.join('\n').replace(/\n*$/, end).replaceAll('\n', eol);
    });
}

/** Texts that undo once changed or broke. */
const known: { readonly [name: string]: readonly string[] } = {
  gemini: ['{\n  // mine\n}\n', '{ /* a */ }\n', '{\n}\n// end\n', '{\r\n  // "a": {\r\n}'],
  codex: ['text = """\n[mcp_servers.memory-bank]\ncommand = 1\n"""\n'],
  goose: ['# mine\n', '# mine\n\n# two'],
};

describe.each([
  ['gemini', jsonText],
  ['droid', jsonText],
  ['opencode', jsonText],
  ['crush', jsonText],
  ['amp', jsonText],
  ['codex', () => textOf(tomlBlocks)],
  ['goose', () => textOf(yamlBlocks.goose)],
  ['continue-cli', () => textOf(yamlBlocks['continue-cli'])],
] as const)('a configuration of %s', (name, texts) => {
  it('is changed once, and as before after undo', () => {
    const client = own(clients, name);
    if (!client) throw new Error(`There is no client ${name}.`);
    const examples = (known[name] ?? []).map((text): [string] => [text]);
    const property = fc.property(texts(client), (text) => {
      const once = added(client, name, text);
      expect(once).not.toBe(text);
      expect(added(client, name, once)).toBe(once);
      const back = removed(client, name, once);
      // Undo removes a file with nothing in it.
      expect(isEmptySettings(text) && isEmptySettings(back) ? text : back).toBe(text);
    });
    fc.assert(property, { numRuns: runs(200), examples });
  });
});
