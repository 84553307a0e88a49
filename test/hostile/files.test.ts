import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deep, describeDeep } from '../support/depth.ts';
import { Stage } from './stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = new Stage();
  await stage.succeed('create_tickets', { tickets: [{ key: 'good', title: 'Good' }] });
  await stage.succeed('memory_write', { category: 'patterns', key: 'good', value: 'good' });
  await stage.succeed('initialize_memory_bank', { path: '.' });
});
afterAll(() => stage.close());

const ticket = (key: string, rest: string) =>
  `id: Abcdefghijk1\nkey: ${key}\n${rest}created_at: 2026-01-01T00:00:00.000Z\nupdated_at: 2026-01-01T00:00:00.000Z\n`;

/** Ten levels of aliases, each ten times the one before. */
const laughs = Array.from({ length: 10 }, (_, i) =>
  i === 0
    ? 'a0: &a0 [x, x, x, x, x, x, x, x, x, x]'
    : `a${i}: &a${i} [${Array(10)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
).join('\n');

const nested = (open: string, close: string, levels: number) =>
  open.repeat(levels) + close.repeat(levels);

const brokenYaml: readonly (readonly [name: string, text: string])[] = [
  ['a list that is 100,000 levels deep', `description: ${nested('[', ']', 100_000)}\n`],
  ['a map that is 20,000 levels deep', `description: ${nested('{a: ', '}', 20_000)}\n`],
  [
    'blocks that are 5,000 levels deep',
    Array.from({ length: 5000 }, (_, i) => `${' '.repeat(i)}a:\n`).join(''),
  ],
  ['lists in lists on one line', `description: ${'- '.repeat(50_000)}x\n`],
  ['a thousand million laughs', laughs],
  ['an alias of itself', 'a: &a [*a]\n'],
  ['an alias of nothing', 'a: *b\n'],
  ['a tag of JavaScript', 'a: !!js/function "function () { return process.env }"\n'],
  ['a tag of Python', 'a: !!python/object/apply:os.system ["id"]\n'],
  ['a tag of somebody', 'a: !custom {b: 1}\n'],
  ['binary data', 'a: !!binary aGVsbG8=\n'],
  ['a merge key', 'base: &base {title: Merged}\n<<: *base\n'],
  ['a key twice', 'title: one\ntitle: two\n'],
  ['100,000 keys', Array.from({ length: 100_000 }, (_, i) => `k${i}: v\n`).join('')],
  [
    'a million keys on one line',
    `a: {${Array.from({ length: 200_000 }, (_, i) => `k${i}: 1`).join(', ')}}\n`,
  ],
  [
    'the prototype as a key',
    '__proto__: {polluted: true}\nconstructor: {prototype: {polluted: true}}\n',
  ],
  ['several documents', '---\na: 1\n---\nb: 2\n'],
  ['a directive', '%YAML 1.1\n---\na: yes\n'],
  ['a directive of tags', '%TAG ! tag:evil,2026:\n---\na: !x b\n'],
  ['a tab as indentation', 'a:\n\tb: 1\n'],
  ['no closing quote', 'title: "never closed\n'],
  ['100,000 anchors', Array.from({ length: 100_000 }, (_, i) => `k${i}: &a${i} v\n`).join('')],
  ['conflict markers', '<<<<<<< HEAD\ntitle: a\n=======\ntitle: b\n>>>>>>> other\n'],
  ['a NUL', 'title: a\0b\n'],
  ['a list in the place of a map', '- a\n- b\n'],
  ['a scalar in the place of a map', 'text\n'],
  ['keys that are maps', '? {a: 1}\n: b\n'],
  ['a number that is no number', 'created_at: .nan\n'],
  ['16 MiB of spaces', ' '.repeat(16 * 1024 * 1024)],
  ['17 MiB', 'x'.repeat(17 * 1024 * 1024)],
  ['colons', ':'.repeat(500_000)],
  ['question marks', '? '.repeat(100_000)],
  ['quotes', '"'.repeat(300_001)],
  ['brackets that never close', '['.repeat(500_000)],
];

/** Checks that the rest of the memory is served and writable despite a damaged file. */
async function everythingElseWorks(): Promise<void> {
  const { data } = await stage.succeed('get_ticket', { key: 'good' });
  expect(data).toMatchObject({ ticket: { title: 'Good' } });
  expect(await stage.succeed('list_tickets')).toMatchObject({
    data: { tickets: expect.arrayContaining([expect.objectContaining({ key: 'good' })]) },
  });
  await stage.succeed('update_ticket', { key: 'good', title: 'Better' });
  await stage.succeed('update_ticket', { key: 'good', title: 'Good' });
}

describe('a damaged record', () => {
  const path = '.memory-bank/graph/tickets/bad.yaml';

  const hidesNothing = async (_: string, text: string) => {
    stage.repo.write(path, text);
    const reply = await stage.call('get_ticket', { key: 'bad' });
    if (reply.error) expect(JSON.stringify(reply.body)).toMatch(/bad\.yaml|not_found/);
    await everythingElseWorks();
    const created = await stage.call('create_tickets', { tickets: [{ key: 'bad' }] });
    if (created.error) expect(stage.repo.read(path)).toBe(text);
    expect({}).not.toHaveProperty('polluted');
    stage.repo.git('checkout', '-q', '-f', 'main');
    stage.repo.git('clean', '-fdq');
    if (!created.error) await stage.succeed('delete_ticket', { key: 'bad' });
  };
  test.each(brokenYaml.slice(0, 8))(
    'with %s hides nothing else and is never overwritten',
    hidesNothing,
  );
  deep.each(brokenYaml.slice(8))(
    'with %s hides nothing else and is never overwritten',
    hidesNothing,
  );

  deep.each(brokenYaml)('with %s after its front matter stays as it is', async (_, rest) => {
    stage.repo.write(path, ticket('bad', '') + rest);
    await stage.call('get_ticket', { key: 'bad' });
    await everythingElseWorks();
    const update = await stage.call('update_ticket', { key: 'bad', title: 'New' });
    if (update.error) expect(stage.repo.read(path)).toBe(ticket('bad', '') + rest);
    expect({}).not.toHaveProperty('polluted');
    stage.repo.git('clean', '-fdq');
    if (!update.error) await stage.succeed('delete_ticket', { key: 'bad' });
  });
});

describeDeep('front matter that is broken', () => {
  const path = '.memory-bank/knowledge/patterns/bad.md';
  const cases: readonly (readonly [name: string, text: string])[] = [
    ['no opening line', 'text\n'],
    ['no closing line', '---\nkey: bad\n'],
    ['a million dashes', '-'.repeat(1_000_000)],
    ['a million lines of dashes', '---\n'.repeat(300_000)],
    ['nothing', ''],
    ['only a byte order mark', '\ufeff'],
    ...brokenYaml.map(([name, text]) => [name, `---\n${text}---\nbody\n`] as const),
  ];

  test.each(cases)('with %s hides nothing else', async (_, text) => {
    stage.repo.write(path, text);
    await stage.call('memory_read', { category: 'patterns', key: 'bad' });
    const { entries } = await stage.succeed('memory_read', { category: 'patterns', key: 'good' });
    expect(entries).toMatchObject([{ value: 'good' }]);
    const written = await stage.call('memory_write', {
      category: 'patterns',
      key: 'bad',
      value: 'x',
    });
    if (written.error) expect(stage.repo.read(path)).toBe(text);
    stage.repo.git('checkout', '-q', '-f', 'main');
    stage.repo.git('clean', '-fdq');
    if (!written.error)
      await stage.succeed('memory_delete', { category: 'patterns', key: 'bad', confirm: true });
  });
});

describeDeep('bytes that are no UTF-8', () => {
  test.each([
    ['a lone continuation byte', Buffer.from([0x61, 0x80])],
    ['half a surrogate pair', Buffer.from([0xed, 0xa0, 0x80])],
    ['an overlong slash', Buffer.from([0xc0, 0xaf])],
    ['UTF-16', Buffer.from('\ufeffkey: bad\n', 'utf16le')],
    ['every byte', Buffer.from(Array.from({ length: 256 }, (_, i) => i))],
  ])('make a damaged file: %s', async (_, bytes) => {
    const path = '.memory-bank/graph/tickets/bad.yaml';
    stage.repo.write(path, bytes);
    await everythingElseWorks();
    await stage.refuse('create_tickets', { tickets: [{ key: 'bad' }] });
    stage.repo.git('clean', '-fdq');
  });
});

describe('a damaged rule file', () => {
  const rules: readonly (readonly [name: string, file: string, text: string])[] = [
    ['JSON, 100,000 levels deep', 'evil.json', nested('[', ']', 100_000)],
    ['JSON objects, 100,000 levels deep', 'evil.json', nested('{"a":', '}', 100_000)],
    [
      'JSON with a prototype',
      'evil.json',
      '{"__proto__":{"polluted":true},"mode":"evil","instructions":{"general":[]}}',
    ],
    ['TOML, 10,000 levels deep', 'evil.toml', `a = ${nested('[', ']', 10_000)}`],
    ['TOML with a name of 10,000 parts', 'evil.toml', `${Array(10_000).fill('a').join('.')} = 1`],
    [
      'TOML with 50,000 tables',
      'evil.toml',
      Array.from({ length: 50_000 }, (_, i) => `[t${i}]`).join('\n'),
    ],
    [
      'TOML with a prototype',
      'evil.toml',
      'mode = "evil"\n[__proto__]\npolluted = true\n[instructions]\ngeneral = []\n',
    ],
    ['TOML that never closes', 'evil.toml', `a = """${'"'.repeat(100_000)}`],
    ['YAML, 100,000 levels deep', 'evil.yaml', nested('[', ']', 100_000)],
    ['YAML that laughs', 'evil.yaml', `mode: evil\ninstructions:\n  general: []\n${laughs}\n`],
    ['5 MiB', 'evil.yaml', `mode: evil\n# ${'x'.repeat(5 * 1024 * 1024)}`],
    [
      'a million patterns',
      'evil.json',
      JSON.stringify({
        mode: 'evil',
        instructions: { general: [], memory_bank: { files_to_read: Array(300_000).fill('*.md') } },
      }),
    ],
  ];

  test.each(rules)('with %s is skipped and named', async (_, file, text) => {
    stage.repo.write(`.memory-bank/rules/${file}`, text);
    const reply = await stage.call('switch_mode', { mode: 'evil' });
    if (!reply.error) await stage.succeed('switch_mode', { mode: 'none' });
    await stage.succeed('switch_mode', { mode: 'code' });
    await stage.succeed('switch_mode', { mode: 'none' });
    expect({}).not.toHaveProperty('polluted');
    stage.repo.git('clean', '-fdq');
  });
});

describeDeep('config.yaml that is broken', () => {
  test.each([
    ...brokenYaml,
    ['a newer format', 'format: 99\nproject_id: 5f0c4b1e-52b5-4e0e-9d0d-0f6b1f6a9a01\n'] as const,
  ])('by %s stops the writing', async (_, text) => {
    stage.repo.write('.memory-bank/config.yaml', text);
    await stage.refuse('create_tickets', { tickets: [{ key: 'new' }] });
    stage.repo.git('checkout', '-q', '-f', 'main');
    await everythingElseWorks();
  });
});
