import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { MemoryError } from '../../core/error.ts';
import { leaveRepository, setMergeDriver } from '../../merge-driver.ts';
import { findRoot } from '../../root.ts';
import { type Command, flagText, type Invocation } from '../command.ts';
import { paintDiff } from '../log.ts';
import { agrees, mayAsk, mayGoOn, question } from '../question.ts';
import { Screen } from '../screen.ts';
import { inSession } from '../work.ts';
import { clients, entryName, type Start, type Surroundings } from './client.ts';
import { applyEdit, diffOf, type Plan, planSetup } from './plan.ts';

const forAgents = ['AGENTS.md', 'CLAUDE.md'] as const;

/** `memory-bank init`: sets a project and its clients up, or takes that back. */
export const init: Command = {
  about: 'set this project up: clients, memory, merge driver; shows what it will change and asks',
  flags: {
    clients: {
      value: 'a,b,...',
      about: `${Object.keys(clients).join(', ')}, all or none; default: those that are in use here`,
    },
    instructions: {
      value: forAgents.join('|'),
      choices: forAgents,
      many: true,
      about: 'add a short section for agents to this file',
    },
    command: {
      value: 'command',
      about: 'how clients start the server; default: this program where it lies',
    },
    yes: { about: 'do not ask' },
    undo: { about: 'take everything back but the memory itself' },
    'dry-run': { about: 'only show what would change' },
  },
  async run(invocation) {
    const { options, values } = invocation;
    const { path: root } = await findRoot({ ...options.place, clientRoots: async () => [] });
    const { home, env } = options.place;
    const around: Surroundings = { root, home, env, platform: process.platform };
    const undo = values.undo === true;
    const ask = mayAsk(values);
    const screen = new Screen();
    const names = await chosenClients(invocation, around, undo, ask);
    const instructions = undo ? forAgents : await chosenInstructions(invocation, ask);
    const program = programOf(invocation);
    const start = undo ? undefined : startOf(invocation, program);
    const mayReplace = async (path: string, use: string) =>
      ask && agrees(`The entry "${entryName}" of ${path} ${use}. Replace it?`);
    const setup = { names, instructions, program, start, around, mayReplace };
    const plan = await planSetup(setup);
    await screen.show(planText(screen, plan, undo));
    if (values['dry-run'] === true) return 0;
    if (!(await mayGoOn(values, 'Make these changes?'))) return 0;
    for (const edit of plan.edits) await applyEdit(edit, around);
    const done = undo ? await takeBack(invocation, root) : await setUp(invocation, root);
    await screen.show(done.map((line) => `${screen.plain(line)}\n`).join(''));
    // What is for something else was never ours to take back.
    return plan.untouched.some(({ isForeign }) => !(undo && isForeign)) ? 6 : 0;
  },
};

/** The words that clients start the program by. */
function programOf({ values }: Invocation): readonly string[] {
  const given = flagText(values, 'command')?.trim().split(/\s+/);
  return given ?? ['node', resolve(process.argv[1] ?? '')];
}

/** The program as clients are to start it. */
function startOf({ options }: Invocation, program: readonly string[]): Start {
  const [command = process.execPath, ...args] = program;
  const narrowed = options.enabled ? ['--toolsets', options.enabled.join(',')] : [];
  return { command, args: [...args, ...narrowed] };
}

async function chosenClients(
  { values }: Invocation,
  around: Surroundings,
  undo: boolean,
  ask: boolean,
): Promise<readonly string[]> {
  const all = Object.keys(clients);
  const used = all.filter((name) => clients[name]?.signs(around).some((sign) => existsSync(sign)));
  const usual = undo ? all : used.length > 0 ? used : ['claude'];
  const given = flagText(values, 'clients');
  const text =
    given ??
    (ask && !undo
      ? (await question(`Clients (${all.join(', ')}) [${usual.join(',')}]: `)) || usual.join(',')
      : usual.join(','));
  if (text === 'all') return all;
  if (text === 'none') return [];
  return text
    .split(/[\s,]+/)
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

async function chosenInstructions({ values }: Invocation, ask: boolean): Promise<string[]> {
  const given = values.instructions;
  const names = Array.isArray(given) ? given.map(String) : [];
  if (names.length === 0 && ask) {
    if (await agrees('Add a section for agents to AGENTS.md?')) return ['AGENTS.md'];
  }
  const unknown = names.find((name) => !forAgents.some((one) => one === name));
  if (unknown === undefined) return names;
  throw new MemoryError('invalid_input', `--instructions is ${forAgents.join(' or ')}.`);
}

function planText(screen: Screen, { edits, untouched }: Plan, undo: boolean): string {
  const diffs = edits.flatMap((edit) =>
    diffOf(edit)
      .trimEnd()
      .split('\n')
      .map((line) => paintDiff(screen, line)),
  );
  const left = untouched.map(({ path, reason, isForeign }) => {
    const told = `${path} is left alone: ${reason}.`;
    if (undo && isForeign) return screen.plain(told);
    const remedy = isForeign ? 'Rename that entry' : 'Mend it';
    const what = undo ? `take the entry "${entryName}" out` : 'add the server';
    return screen.paint('bad', `${told} ${remedy}, or ${what} by hand.`);
  });
  const lines = [...diffs, ...left];
  return lines.length === 0 ? 'No file has to change.\n' : `${lines.join('\n')}\n`;
}

async function setUp(invocation: Invocation, root: string): Promise<string[]> {
  const { app, options } = invocation;
  const id = await inSession(invocation, (session, call) =>
    app.run(session, 'init', call, ({ project }) => project.initialize()),
  );
  const program = [process.execPath, resolve(process.argv[1] ?? '')];
  const { top } = await setMergeDriver(root, program, options.durability);
  return [
    `The memory of ${root} is ready (project ${id}).`,
    `git merges it by record in ${top}.`,
    'Restart the clients, or have them connect again.',
    '"memory-bank import" takes over what other programs have kept here.',
    ...(/[\\/]_npx[\\/]/.test(program.join(' '))
      ? [
          'This program lies in the cache of npx, which may be emptied: install it ("npm install -g") and call init again, or say by --command how clients are to start it.',
        ]
      : []),
  ];
}

async function takeBack({ options }: Invocation, root: string): Promise<string[]> {
  await leaveRepository(root, options.durability);
  return ['Everything is taken back. The memory itself stays in .memory-bank.'];
}
