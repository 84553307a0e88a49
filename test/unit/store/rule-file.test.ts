import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseRuleFile } from '../../../src/store/modes/rule-file.ts';
import { corpus } from '../../support/corpus.ts';

const source = 'code.json';

/** A rule file as JSON: the smallest valid one, with parts of it replaced. */
function json(instructions: object = {}, more: object = {}): string {
  return JSON.stringify({
    mode: 'code',
    instructions: { general: ['Go.'], ...instructions },
    ...more,
  });
}

function parse(text: string, name = 'code.json') {
  return parseRuleFile(text, name, name);
}

describe('a rule file', () => {
  it('has the same meaning in JSON, YAML and TOML', () => {
    const texts = {
      'code.json': json(
        {
          umb: { trigger: 'code', instructions: ['Stop.'], override_file_restrictions: true },
          memory_bank: { files_to_read: ['**'], files_to_update: [] },
        },
        { mode_triggers: { ask: [{ condition: 'Why' }, { condition: 'How' }] } },
      ),
      'code.yaml': `
mode: code
instructions:
  general: [Go.]
  umb:
    trigger: code
    instructions:
      - Stop.
    override_file_restrictions: true
  memory_bank:
    files_to_read: ['**']
    files_to_update: []
mode_triggers:
  ask:
    - condition: Why
    - condition: How
`,
      'code.toml': `
mode = "code"
[instructions]
general = ["Go."]
[instructions.umb]
trigger = "code"
instructions = ["Stop."]
override_file_restrictions = true
[instructions.memory_bank]
files_to_read = ["**"]
files_to_update = []
[mode_triggers.ask]
condition = [{ condition = "Why" }, "How"]
`,
    };
    const mode = {
      name: 'code',
      source,
      instructions: ['Go.'],
      umb: { trigger: 'code', instructions: ['Stop.'], overrideFileRestrictions: true },
      filesToRead: ['**'],
      filesToUpdate: [],
      triggers: { ask: ['Why', 'How'] },
    };
    for (const [name, text] of Object.entries(texts)) {
      expect(parseRuleFile(text, name, source)).toEqual(mode);
      expect(parseRuleFile(`\uFEFF${text}`, 'code', source)).toEqual(mode);
    }
  });

  it('needs only mode and instructions', () => {
    expect(parse(json())).toEqual({
      name: 'code',
      source,
      instructions: ['Go.'],
      umb: undefined,
      filesToRead: undefined,
      filesToUpdate: undefined,
      triggers: {},
    });
    expect(parse(json({ umb: null, memory_bank: {} }, { mode_triggers: null, extra: 1 }))).toEqual(
      parse(json()),
    );
  });

  it('may have lists of instructions instead of the sections umb and memory_bank', () => {
    const mode = parse(json({ umb: ['Stop.'], memory_bank: ['Read first.'] }));
    expect(mode.instructions).toEqual(['Go.', 'Read first.']);
    expect(mode.filesToRead).toBeUndefined();
    expect(mode.umb).toEqual({
      trigger: 'code',
      instructions: ['Stop.'],
      overrideFileRestrictions: false,
    });
  });

  it('is read by its extension, or by its content without one', () => {
    const yaml = 'mode: code\ninstructions: { general: [Go.] }';
    expect(parse(yaml, 'code').instructions).toEqual(['Go.']);
    expect(parse(yaml, 'code.yml').instructions).toEqual(['Go.']);
    expect(() => parse(yaml, 'code.json')).toThrow(/^cannot be read as JSON: /);
    expect(() => parse(yaml, 'code.toml')).toThrow(/^cannot be read as TOML: /);
  });

  it.each([
    ['', 'code.yaml', 'field mode: is required'],
    ['Write good code, please.', 'code', 'cannot be read as JSON, TOML, YAML'],
    ['- a\n- b', 'code', 'cannot be read as JSON, TOML, YAML'],
    ['[]', 'code.json', 'cannot be read as JSON: has no keys'],
    ['', 'code', 'mode: is required'],
    ['{"mode": "code"}', 'code.json', 'instructions: is required'],
    [json({ general: 'Go.' }), 'code.json', 'instructions.general: expected array'],
    [json({ general: [{}] }), 'code.json', 'instructions.general[0]: expected string'],
    [json({ umb: 'UMB' }), 'code.json', 'instructions.umb: expected object'],
    [json({ umb: { trigger: '' } }), 'code.json', 'instructions.umb.trigger: must not be empty'],
    [json({ umb: { trigger: 5 } }), 'code.json', 'instructions.umb.trigger: expected string'],
    [
      json({ memory_bank: { files_to_read: null } }),
      'code.json',
      'instructions.memory_bank.files_to_read: must not be null',
    ],
    [json({ memory_bank: { files_to_update: ['!a.md'] } }), 'code.json', '"!a.md"'],
    [json(), 'ask.json', 'says mode "code", but its name says "ask"'],
    [json(), '../code.json', 'does not have a valid mode in its name'],
    [json(), 'my code', 'does not have a valid mode in its name'],
    [json(), '', 'does not have a valid mode in its name'],
    [json({}, { mode: 'm'.repeat(41) }), 'm'.repeat(41), 'does not have a valid mode in its name'],
  ])('%j as %s is refused', (text, name, reason) => {
    expect(() => parse(text, name)).toThrow(reason);
  });

  it('uses the last of equal keys in JSON, and must not have any in YAML and TOML', () => {
    const twice = json().replace('["Go."]', '["No."],"general":["Go."]');
    expect(parse(twice)).toEqual(parse(json()));
    expect(() => parse('mode: ask\nmode: code', 'code.yaml')).toThrow('cannot be read as YAML');
    expect(() => parse('mode = "ask"\nmode = "code"', 'code.toml')).toThrow(
      'cannot be read as TOML',
    );
  });

  it('cannot reach a prototype', () => {
    const text = json({}, { mode_triggers: { x: ['X'], constructor: ['C'] } })
      .replace('"x"', '"__proto__"')
      .replace('{"mode"', '{"__proto__":{"polluted":true},"mode"');
    const mode = parse(text);
    expect(Object.entries(mode.triggers)).toEqual([['constructor', ['C']]]);
    expect(Object.getPrototypeOf(mode.triggers)).toBe(Object.prototype);
    expect('polluted' in {}).toBe(false);
  });

  it('is bounded in depth', () => {
    const deep = '['.repeat(100_000);
    for (const name of ['code', 'code.json', 'code.yaml', 'code.toml']) {
      for (const text of [
        deep,
        `a = ${deep}`,
        `a: ${deep}`,
        'a.'.repeat(100_000),
        '{"a":'.repeat(40_000),
      ]) {
        expect(() => parse(text, name)).toThrow('cannot be read as');
      }
    }
    expect(() => parse(`${'a.'.repeat(100_000)}a = 1`, 'code.toml')).toThrow(
      'field mode: is required',
    );
    const nested = `${deep.slice(0, 90_000)}"Why"${']'.repeat(90_000)}`;
    expect(parse(json({}, { mode_triggers: { ask: 0 } }).replace('0', nested)).triggers).toEqual({
      ask: [],
    });
  });

  it('is refused in one short line, whatever its content', () => {
    const text = `a: \`${'long\\n '.repeat(500)}\n\t- [x`;
    for (const name of ['code', 'code.json', 'code.yaml', 'code.toml']) {
      const told = expect.stringMatching(/^cannot be read as .{1,230}$/);
      expect(() => parse(text, name)).toThrow(expect.objectContaining({ message: told }));
    }
  });

  const blocks = join(corpus ?? '', 'movibe+memory-bank-mcp/_extracted_rule_blocks');
  describe.skipIf(!corpus)('of the corpus', () => {
    const names = corpus ? readdirSync(blocks) : [];

    /** Reads a block under the mode in its own text. */
    function block(name: string) {
      const text = readFileSync(join(blocks, name), 'utf8');
      const mode = /mode"?\s*[:=]\s*"?(\w+)/.exec(text)?.[1];
      return parseRuleFile(text, name.replace(/^.*\./, `${mode}.`), source);
    }

    it('is read: every printed example', () => {
      expect(names.filter((name) => block(name).instructions.length > 0)).toHaveLength(31);
    });

    it('is read: the three formats of the same mode are equal', () => {
      const triples = Array.from({ length: 5 }, (_, mode) =>
        ['json', 'yaml', 'toml'].map((extension, i) => {
          const number = String(mode * 3 + i + 1).padStart(2, '0');
          return block(`rule-examples-${number}.${extension}`);
        }),
      );
      for (const [json, yaml, toml] of triples) {
        expect(yaml).toEqual(json);
        expect(toml).toEqual(json);
      }
      expect(triples.map(([mode]) => mode?.name)).toEqual([
        'architect',
        'code',
        'ask',
        'debug',
        'test',
      ]);
    });
  });
});
