import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { deep } from '../support/depth.ts';
import { key } from '../support/http.ts';
import { HttpProgram } from '../support/http-program.ts';
import { main, newFolder, RawClient } from '../support/process.ts';
import { Repo } from '../support/repo.ts';

/** Starts a server in a folder, for a client that has some folders open. */
async function started(cwd: string, home: string, roots: readonly string[] = [], variables = {}) {
  const client = new RawClient([main], { cwd, env: { HOME: home, ...variables } });
  client.initialize(roots.length > 0 ? { roots: {} } : {}).call(1, 'memory_list');
  if (roots.length > 0) {
    const { id } = await client.told('roots/list');
    const named = roots.map((root) => ({ uri: pathToFileURL(root).href }));
    client.send({ jsonrpc: '2.0', id, result: { roots: named } });
  }
  const textsOf = async (id: number): Promise<string[]> =>
    (await client.answer(id)).result.content.map(({ text }: { text: string }) => text);
  return { client, textsOf };
}

/** A path as JSON has it. */
const inJson = (path: string) => JSON.stringify(path).slice(1, -1);

describe('over stdio', () => {
  test('a client that gives no project gets the call that chooses one', async () => {
    const home = newFolder();
    const { client, textsOf } = await started(home, home);
    expect(await textsOf(1)).toEqual([
      expect.stringContaining(
        `home directory, ${inJson(home)}. Call set_memory_bank_path with the path`,
      ),
    ]);
    const { root } = Repo.create();
    client.call(2, 'set_memory_bank_path', { path: root }).call(3, 'memory_list');
    expect(await textsOf(3)).toEqual([expect.stringContaining('"success":true')]);
    await client.end();
  });

  deep.each([
    ['the current one', {}, false],
    ['that of Claude Code', { CLAUDE_PROJECT_DIR: '.' }, false],
    ['the root of the client', {}, true],
  ])(
    'an agent in a folder that may be the wrong one learns that once: %s',
    async (_, variables, hasRoot) => {
      const cwd = newFolder();
      const { client, textsOf } = await started(cwd, newFolder(), hasRoot ? [cwd] : [], variables);
      const remark = `${cwd} is served as the project, but had no memory and was not in a git repository: if the project is elsewhere, call set_memory_bank_path with its path.`;
      expect((await textsOf(1)).slice(1)).toEqual([remark]);
      client.call(2, 'memory_list');
      expect(await textsOf(2)).toHaveLength(1);
      await client.end();
    },
  );

  deep('a folder that a person gave to the program has no such remark', async () => {
    const [cwd, home] = [newFolder(), newFolder()];
    const { client, textsOf } = await started(cwd, home, [], { MEMORY_BANK_ROOT: cwd });
    expect(await textsOf(1)).toHaveLength(1);
    await client.end();
  });

  deep(
    'two projects in one window: the one of the start is served, else the client is asked',
    async () => {
      const [one, two] = [Repo.create().root, Repo.create().root];
      const inOne = await started(one, newFolder(), [one, two]);
      const elsewhere = await started(newFolder(), newFolder(), [one, two]);
      expect((await inOne.textsOf(1)).slice(1)).toEqual([
        `The memory of ${one} is served. The client also has ${two} open: if that is meant, call set_memory_bank_path with its path.`,
      ]);
      expect(await elsewhere.textsOf(1)).toEqual([
        expect.stringContaining(
          `The client has several projects open: ${inJson(one)}, ${inJson(two)}. Call set_memory_bank_path with the path of the one that is meant`,
        ),
      ]);
      elsewhere.client.call(2, 'set_memory_bank_path', { path: two }).call(3, 'memory_list');
      expect(await elsewhere.textsOf(3)).toHaveLength(1);
      await Promise.all([inOne.client.end(), elsewhere.client.end()]);
    },
  );
});

test('over HTTP, a server in the wrong folder says how to start it in a project', async () => {
  const repo = Repo.create();
  const env = { HOME: repo.root, MEMORY_BANK_API_KEYS: key };
  const program = await HttpProgram.start([], env, repo);
  const { body } = await program.ask('GET', '/memory-bank/file/progress.md');
  expect(body).toMatchObject({
    error: { message: expect.stringMatching(/home directory, .*\. Start the server in a project/) },
  });
  await program.stop();
});
