import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { MemoryError } from '../../src/core/values/error.ts';
import { findSecrets } from '../../src/store/secrets/scan.ts';
import { credentials } from '../support/credentials.ts';
import { letter, note } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

async function serve(): Promise<{ repo: Repo; opened: Opened }> {
  const repo = Repo.create();
  cleanUp.push(() => repo.remove());
  const opened = await open(repo.root, [note, letter]);
  cleanUp.push(() => opened.workspace.close());
  return { repo, opened };
}

/** The credential in a sample, without the text around it. */
function secret(name: string): string {
  const text = credentials(7).find((sample) => sample.name === name)?.text ?? '';
  return findSecrets(text)[0]?.text ?? '';
}
const github = secret('GitHub token');
const stripe = secret('Stripe key');

async function refusal(work: Promise<unknown>): Promise<MemoryError> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof MemoryError)) throw new Error(`not refused: ${String(thrown)}`);
  expect(thrown.code).toBe('secret');
  return thrown;
}

/** Everything that an error shows to anybody. */
const told = (error: MemoryError) => `${error.text} ${JSON.stringify(error.data)} ${error.stack}`;

/** Whether a file below the root, those of git included, or an object contains a text. */
function holds(repo: Repo, text: string): boolean {
  const files = readdirSync(repo.root, { recursive: true, encoding: 'utf8' });
  if (files.some((path) => path.includes(text))) return true;
  const plain = files
    .map((path) => join(repo.root, path))
    .filter((path) => statSync(path).isFile())
    .some((path) => readFileSync(path).includes(text));
  return plain || repo.git('cat-file', '--batch-all-objects', '--batch').includes(text);
}

const put = (opened: Opened, key: string, text: string, tags: string[] = []) =>
  opened.call.store.change({ subject: `add ${key}` }, (tx) => tx.put(note, { key, text, tags }));

describe('a credential is refused and not written anywhere', () => {
  test('in a field of a new record', async () => {
    const { repo, opened } = await serve();
    const before = repo.git('count-objects', '-v');
    const error = await refusal(put(opened, 'deploy', `first line\nuse ${github} here`));
    expect(error.message).toBe(
      'notes/deploy.yaml (line 5, field "text") holds what looks like a GitHub token. Nothing was written.',
    );
    expect(told(error)).not.toContain(github);
    expect(holds(repo, github)).toBe(false);
    expect(repo.git('count-objects', '-v')).toBe(before);
    expect(repo.status()).toEqual([]);
  });

  test('in a list, and in an addition to a record', async () => {
    const { repo, opened } = await serve();
    await put(opened, 'deploy', 'text');
    const head = repo.git('rev-parse', 'HEAD');
    const error = await refusal(put(opened, 'deploy', 'text', ['a', stripe]));
    expect(error.message).toContain('field "tags[1]"');
    expect(holds(repo, stripe)).toBe(false);
    expect(repo.git('rev-parse', 'HEAD')).toBe(head);
  });

  test('in the body below the front matter', async () => {
    const { repo, opened } = await serve();
    const sample = credentials(7).find(({ name }) => name === 'RSA private key')?.text ?? '';
    const error = await refusal(
      opened.call.store.change({ subject: 'x' }, (tx) =>
        tx.put(letter, { id: '1', title: 'Keys', body: sample }),
      ),
    );
    expect(error.message).toContain('letters/keys.md');
    expect(error.message).toContain('a private key');
    expect(holds(repo, secret('RSA private key'))).toBe(false);
  });

  test('that only the title of its record identifies', async () => {
    const { opened } = await serve();
    const body = secret('session secret');
    const write = (text: string) =>
      opened.call.store.change({ subject: 'x' }, (tx) =>
        tx.put(letter, { id: '1', title: 'Signing key of the shop', body: text }),
      );
    const error = await refusal(write(`${body}\n`));
    expect(error.message).toContain('field "body") holds what looks like a key or token');
    expect(told(error)).not.toContain(body);
    await write('It is in the vault.');
  });

  test('in a key, which would become the name of a file', async () => {
    const { repo, opened } = await serve();
    const error = await refusal(put(opened, github, 'text'));
    expect(error.message).toBe(
      'the note (line 1, field "key") holds what looks like a GitHub token. Nothing was written.',
    );
    expect(told(error)).not.toContain(github);
    expect(holds(repo, github)).toBe(false);
  });

  test('in a title, part of which would become the name of a file', async () => {
    const { opened } = await serve();
    const title = `The token ${stripe}`;
    const error = await refusal(
      opened.call.store.change({ subject: 'x' }, (tx) =>
        tx.put(letter, { id: '1', title, body: '' }),
      ),
    );
    expect(error.message).toContain('the letter (line 3, field "title")');
    expect(told(error).toLowerCase()).not.toContain(stripe.slice(8, 24).toLowerCase());
  });

  test.each([
    ['the subject of the commit', { subject: `use ${github}` }],
    ['the reason', { subject: 'x', reason: `because\nof ${github}` }],
    ['the Trigger of the commit', { subject: 'x', trailers: { Trigger: github } }],
    ['the reason', { subject: 'x', reason: `use ghp_\u200b${github.slice(4)}` }],
    // The line feeds separate the name and the value; a subject loses them.
    ['the message of the commit', { subject: 'password =\n\n\n\n\nq8ZrT2vN5xLk7WmP' }],
  ])('in %s', async (where, why) => {
    const { repo, opened } = await serve();
    const error = await refusal(
      opened.call.store.change(why, (tx) => tx.put(note, { key: 'a', text: 'b', tags: [] })),
    );
    expect(error.message).toContain(`${where} (line`);
    expect(told(error)).not.toContain(github);
    expect(holds(repo, github.slice(8))).toBe(false);
    expect(repo.status()).toEqual([]);
  });

  test('in the name of the client', async () => {
    const { repo, opened } = await serve();
    opened.session.agent = github;
    await refusal(put(opened, 'a', 'b'));
    expect(holds(repo, github)).toBe(false);
  });

  test('in a folder without a repository, which is not created', async () => {
    const repo = new Repo();
    cleanUp.push(() => repo.remove());
    const opened = await open(repo.root, [note]);
    cleanUp.push(() => opened.workspace.close());
    await refusal(put(opened, 'a', github));
    expect(readdirSync(repo.root)).toEqual([]);
  });
});

test('the error names some of many, each once', async () => {
  const { opened } = await serve();
  const all = credentials(3).map(({ text }) => text);
  const error = await refusal(put(opened, 'all', [...all, ...all].join('\n\n')));
  expect(error.message).toMatch(/; and \d+ more\. Nothing was written\.$/);
  expect(error.message.split(' holds what looks like ')).toHaveLength(6);
  for (const text of all) {
    for (const found of findSecrets(text)) expect(told(error)).not.toContain(found.text);
  }
});

describe('a credential that already exists', () => {
  test('does not prevent changes of the rest of its file, or the removal of the file', async () => {
    const { repo, opened } = await serve();
    await put(opened, 'old', 'text');
    const path = '.memory-bank/notes/old.yaml';
    repo.write(path, repo.read(path).replace('text: text', `text: ${github}`));
    repo.git('commit', '-qam', 'By hand');
    await put(opened, 'old', `${github}\nand more`);
    await refusal(put(opened, 'old', `${github}\nand ${stripe}`));
    await opened.call.store.change({ subject: `remove ${github}` }, (tx) => tx.remove(note, 'old'));
    expect(repo.status()).toEqual([]);
  });

  test('is not committed with an edit by hand', async () => {
    const { repo, opened } = await serve();
    await put(opened, 'a', 'text');
    const path = '.memory-bank/notes/a.yaml';
    const edited = `${repo.read(path)}# ${github}\n`;
    repo.write(path, edited);
    const head = repo.git('rev-parse', 'HEAD');
    const error = await refusal(put(opened, 'a', 'more'));
    expect(error.message).toContain(`${path} (line 4) holds what looks like a GitHub token`);
    expect(error.hint).toContain('or commit the edit yourself');
    expect(told(error)).not.toContain(github);
    expect(repo.read(path)).toBe(edited);
    expect(repo.git('rev-parse', 'HEAD')).toBe(head);
    expect(repo.git('cat-file', '--batch-all-objects', '--batch')).not.toContain(github);

    await put(opened, 'b', 'another file is not held up');
    repo.git('commit', '-qam', 'By hand');
    await put(opened, 'a', 'more');
    expect(repo.status()).toEqual([]);
  });

  test('is not committed from the staging area', async () => {
    const { repo, opened } = await serve();
    await put(opened, 'a', 'text');
    const path = '.memory-bank/notes/a.yaml';
    const text = repo.read(path);
    repo.write(path, `${text}# ${github}\n`);
    repo.git('add', '.');
    repo.write(path, text);
    const head = repo.git('rev-parse', 'HEAD');
    await refusal(put(opened, 'a', 'more'));
    expect(repo.git('rev-parse', 'HEAD')).toBe(head);
    expect(repo.git('diff', '--cached', '--name-only').trim()).toBe(path);
  });
});

describe('secrets.allow in config.yaml', () => {
  test('allows a text by the fingerprint that the error named', async () => {
    const { repo, opened } = await serve();
    await put(opened, 'a', 'text');
    const error = await refusal(put(opened, 'a', github));
    const [fingerprint = ''] = /(?<=fingerprint \()[0-9a-f]{16}/.exec(error.hint ?? '') ?? [];
    expect(error.hint).toContain('secrets.allow in .memory-bank/config.yaml');
    const path = '.memory-bank/config.yaml';
    repo.write(path, `${repo.read(path)}secrets:\n  allow:\n    - "${fingerprint}"\n`);
    await put(opened, 'a', github);
    expect(repo.read('.memory-bank/notes/a.yaml')).toContain(github);
    await refusal(put(opened, 'b', stripe));
  });

  test('refuses writes if it is invalid, and names the problem', async () => {
    const { repo, opened } = await serve();
    await put(opened, 'a', 'text');
    const path = '.memory-bank/config.yaml';
    repo.write(path, `${repo.read(path)}secrets:\n  allow: [nonsense]\n`);
    await expect(put(opened, 'a', 'b')).rejects.toMatchObject({ code: 'damaged' });
  });
});
