import { spawnSync } from 'node:child_process';
import { afterAll, expect } from 'vitest';
import { commandWording } from '../../src/cli/line/error-wording.ts';
import { parametersOf } from '../../src/cli/line/tool-arguments.ts';
import type { JsonObject } from '../../src/core/values/json.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import { everything, planning, type Step } from '../contract/every-tool.ts';
import { deep, sample } from '../support/depth.ts';
import { gitEnv, Repo } from '../support/repo.ts';
import { Served } from '../support/served.ts';

const tools = new Map(
  toolsets.flatMap((toolset) => toolset.tools.map((tool) => [tool.name, tool] as const)),
);
const snakeNames = [...tools.keys()].filter((name) => name.includes('_'));
const opened: { close(): Promise<void>; readonly repo: Repo }[] = [];
afterAll(async () => {
  for (const served of opened) {
    await served.close();
    served.repo.remove();
  }
});

function serve(): Served {
  const served = new Served(Repo.create());
  opened.push(served);
  return served;
}

/** An answer to an earlier call whose ids belong to nothing. */
const answer: object = new Proxy(
  {},
  { get: (_, name) => (/id$/.test(String(name)) ? none : answer) },
);
const none = '00000000-0000-4000-8000-000000000000';

/** Arguments of a call: as they should be, with names of nothing, and with none at all. */
function variants([, args]: Step): readonly JsonObject[] {
  const given: JsonObject = JSON.parse(JSON.stringify(args(() => answer)));
  const unknown = Object.entries(given).map(([name, value]) =>
    typeof value === 'string' && !/type$|operation|action/.test(name)
      ? [name, 'no/such-thing']
      : [name, value],
  );
  const { confirm: _, ...unconfirmed } = given;
  const all: JsonObject[] = [
    Object.fromEntries(unknown),
    {},
    given,
    unconfirmed,
    { ...given, extra: true },
  ];
  return sample(all, 2);
}

interface Message {
  readonly tool: string;
  readonly text: string;
}

/** The errors and notes of all tools. */
async function messages(served: Served): Promise<Message[]> {
  const found: Message[] = [];
  for (const step of [...planning, ...everything]) {
    const [tool] = step;
    for (const args of variants(step)) {
      const { error, text, note } = await served.try(tool, args);
      if (error !== undefined && text !== undefined) found.push({ tool, text });
      if (note !== undefined) found.push({ tool, text: note });
    }
  }
  return found;
}

/** The words of a message that only agents understand, once it is worded for the command line. */
function agentWords({ tool, text }: Message): string[] {
  const declared = tools.get(tool);
  const parameters = declared ? parametersOf(declared.input) : [];
  const worded = commandWording(toolsets, parameters)(text);
  const names = parameters.map(({ name }) => name);
  return [
    ...[...snakeNames, ...names.filter((name) => name.includes('_'))].filter((name) =>
      new RegExp(`\\b${name}\\b`).test(worded),
    ),
    ...names.filter((name) => new RegExp(`\\b${name}: (?:true|false)\\b|\`${name}\``).test(worded)),
  ].map((word) => `${word} in ${tool}: ${worded}`);
}

deep('no message of a tool names tools or arguments of agents on the command line', async () => {
  const served = serve();
  const empty = await messages(served);
  const full = await messages(served);
  expect(empty.length + full.length).toBeGreaterThan(500);
  const named = [...empty, ...full].filter(({ text }) =>
    snakeNames.some((name) => new RegExp(`\\b${name}\\b`).test(text)),
  );
  // Otherwise the wording would have nothing to do.
  expect(new Set(named.map(({ text }) => text)).size).toBeGreaterThan(2);
  expect([...new Set([...empty, ...full].flatMap(agentWords))]).toEqual([]);
});

deep('every message about a conflict names the way to resolve it', async () => {
  const served = serve();
  const { repo } = served;
  repo.git('config', 'merge.memory-bank.driver', 'false');
  await served.write('tabs', 'one');
  repo.git('branch', 'other');
  await served.write('tabs', 'two');
  repo.git('checkout', '-q', 'other');
  await served.write('tabs', 'three');
  repo.git('checkout', '-q', 'main');
  const { status } = spawnSync('git', ['merge', 'other'], { cwd: repo.root, env: gitEnv });
  expect(status).toBe(1);
  const found = (await messages(served)).filter(({ text }) => /\ba merge\b/i.test(text));
  expect(found.length).toBeGreaterThan(20);
  for (const { text } of found) expect(text).toContain('resolve_conflicts');
  expect(found.flatMap(agentWords)).toEqual([]);
});
