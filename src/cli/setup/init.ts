import { dirname, isAbsolute, relative, sep } from 'node:path';
import { checkFirstWrite } from '../../app/health/repository-check.ts';
import { projectPath } from '../../app/project/project-file.ts';
import type { CallOptions } from '../../app/session/call-context.ts';
import {
  findOwnFolder,
  leaveRepository,
  planMergeDriver,
  setMergeDriver,
} from '../../app/session/merging.ts';
import { isPlacedApart } from '../../app/session/placed-apart.ts';
import { findRoot } from '../../app/session/root.ts';
import { selectToolsets } from '../../app/session/toolset-selection.ts';
import { counted } from '../../core/answers/painter.ts';
import type { Context, Layout } from '../../core/declarations/context.ts';
import type { MadeCommit } from '../../core/memory/commit-log.ts';
import type { Session } from '../../core/memory/session.ts';
import { MemoryError } from '../../core/values/error.ts';
import { own } from '../../core/values/json.ts';
import { type Command, flagText, type Invocation } from '../line/command.ts';
import { agrees, mayAsk, mayGoOn, question } from '../line/prompt.ts';
import { asJson, outputFlag, showResult } from '../line/result.ts';
import { inSession } from '../line/run-in-session.ts';
import { Screen } from '../screen/terminal.ts';
import { chosenLayout, layouts } from './chosen-layout.ts';
import { chosenCi, ciHosts } from './ci-workflow.ts';
import { configPath, entryName, hasPersonalFile, isUsed } from './client/client.ts';
import { clients } from './client/client-table.ts';
import { hookPath } from './hook/client-hooks.ts';
import { hasHooks, hookClients } from './hook/hook-table.ts';
import { applyEdit, diffOf, type FileEdit } from './plan/file-edit.ts';
import { planText } from './plan/plan-text.ts';
import { planSetup, type ServerSettings, type Setup } from './plan/setup-plan.ts';
import { type ClientPrograms, clientPrograms, isFromNpx } from './program/client-programs.ts';
import { findOnPath } from './program/entry-start.ts';
import {
  binName,
  ownMain,
  ownProgram,
  packageName,
  pathAdvice,
  withoutCmd,
} from './program/own-entry.ts';
import type { Surroundings } from './program/surroundings.ts';
import { ProjectProposals } from './project-proposals.ts';

const forAgents = ['AGENTS.md', 'CLAUDE.md'] as const;

/** `memory-bank init`: sets up a project and its clients, or undoes that. */
export const init: Command = {
  about: 'set up this project: clients, memory, merge driver; shows what it will change and asks',
  flags: {
    clients: {
      value: 'client,...',
      about: `${Object.keys(clients).join(', ')}, all or none`,
      default: 'those that are in use here',
    },
    hooks: {
      about:
        'let clients also run "memory-bank hook", or read a section for agents where they have no hooks',
    },
    instructions: {
      value: forAgents.join('|'),
      choices: forAgents,
      many: true,
      about: 'add a short section for agents to this file',
    },
    command: {
      value: 'command',
      about: 'how clients start the server',
      default: `"${binName}" in files of the project, this program where it is in those of the user`,
    },
    layout: {
      value: layouts.join('|'),
      choices: layouts,
      about: 'store the logs of the memory as single files, or each entry as a file of its own',
      default: 'as they are; single files in a new memory',
    },
    ci: {
      value: ciHosts.join('|'),
      choices: ciHosts,
      about:
        'also write a workflow that checks pull requests, and merges them where only memory conflicts',
    },
    yes: { about: 'do not ask' },
    undo: { about: 'undo everything but the memory itself' },
    'dry-run': { about: 'only show what would change' },
    ...outputFlag,
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
    const toolsets = undo ? undefined : await chosenToolsets(invocation, ask);
    const hooks = undo || (await choosesHooks(invocation, names, ask));
    const instructions = undo ? forAgents : await chosenInstructions(invocation, ask);
    const programs = clientPrograms(flagText(values, 'command'), ownMain(), process.platform);
    const mayReplace = async (path: string, use: string) =>
      ask && agrees(`The entry "${entryName}" of ${path} ${use}. Replace it?`);
    const setup: Setup = {
      ...{ names, hooks, instructions, programs, around, mayReplace },
      isNamed: flagText(values, 'clients') !== undefined,
      server: undo ? undefined : settingsOf(toolsets),
    };
    return inSession(invocation, async (session, call) => {
      const memory: SetupSession = { invocation, root, session, call };
      const clientPlan = await planSetup(setup);
      const ci = await chosenCi(invocation, root, undo);
      const plan = {
        edits: [...clientPlan.edits, ...ci.edits],
        untouched: [...clientPlan.untouched, ...ci.untouched],
        outcomes: clientPlan.outcomes,
      };
      // An entry for something else does not belong to the setup, so leaving it is not a failure of undo.
      const status = plan.untouched.some(({ isForeign }) => !(undo && isForeign)) ? 6 : 0;
      const driver = await planMergeDriver(root, undo ? undefined : ownProgram());
      const edits = [...plan.edits, ...(driver ? [driver] : [])];
      const layout = undo ? undefined : await chosenLayout(invocation, root, session, call, ask);
      const notes = layout
        ? [...(await made(memory, driver)), ...layout.notes]
        : await takenBack(root);
      const needed = undo ? [] : neededByOthers(programs, plan.edits, names, around);
      const json = asJson(values);
      const result = {
        edits: edits.map((edit) => ({ path: edit.path, diff: diffOf(edit) })),
        untouched: plan.untouched.map(({ path, reason }) => ({ path, reason })),
        clients: plan.outcomes,
        notes: [...notes, ...needed, ...ci.notes, ...(undo ? [] : spokenBy(plan.edits, around))],
      };
      if (!json) {
        await screen.print(planText(screen, { ...plan, edits }, result.notes, undo));
      }
      const dryRun = values['dry-run'] === true;
      if (dryRun || edits.length + notes.length === 0) {
        if (json) await showResult(values, { ...result, done: [] }, () => []);
        return dryRun ? 0 : status;
      }
      if (!(await mayGoOn(values, 'Make these changes?'))) return 0;
      const failed = await applyAll(plan.edits, around);
      const done = [
        ...failed,
        ...(layout ? await setUp(memory, layout.to) : await takeBack(memory)),
        ...leftToCommit(root, plan.edits),
      ];
      const proposals = undo ? undefined : await found(memory);
      const open = proposals?.open.length ?? 0;
      if (open > 0) {
        done.push(
          `This project already says what the memory could have (${counted(open, 'entry')}): "memory-bank propose" lists it.`,
        );
      }
      await showResult(values, { ...result, done }, () => done.map((line) => screen.plain(line)));
      if (proposals && open > 0 && ask && !json && (await agrees('Look at it now?'))) {
        await screen.print(`${proposals.lines(screen).join('\n')}\n`);
        await proposals.ask();
      }
      return failed.length > 0 ? 6 : status;
    });
  },
};

/** Writes each file, and says which cannot be written: the others do not depend on it. */
async function applyAll(edits: readonly FileEdit[], around: Surroundings): Promise<string[]> {
  const failed: string[] = [];
  for (const edit of edits) {
    try {
      await applyEdit(edit, around);
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      failed.push(error.text);
    }
  }
  return failed;
}

/** The memory of a project, in the session that sets it up. */
interface SetupSession {
  readonly invocation: Invocation;
  readonly root: string;
  readonly session: Session;
  readonly call: CallOptions;
}

/** The entries that the project proposes; the setup is complete without them. */
async function found({ invocation, session, call }: SetupSession) {
  try {
    return await ProjectProposals.find(invocation, session, call);
  } catch (error) {
    if (error instanceof MemoryError && error.code !== 'cancelled') return undefined;
    throw error;
  }
}

/** Describes what the first commit of the memory will make. */
async function made(
  { invocation: { app }, root, session, call }: SetupSession,
  driver: FileEdit | undefined,
): Promise<string[]> {
  const [lacking, { folder }, { branch }] = await app.run(
    session,
    'init',
    call,
    async (context) => [
      await context.project.lacking(),
      await context.project.info(),
      await context.project.head(),
    ],
  );
  const where = branch === undefined || isPlacedApart(root) ? '' : ` on the branch ${branch}`;
  if (lacking.length > 0) checkFirstWrite(dirname(folder), process.env);
  return [
    ...(driver && driver.before === undefined ? [`${root} becomes a git repository.`] : []),
    ...(lacking.length > 0
      ? [`${folder} gets ${lacking.join(' and ')}, as a commit${where}.`]
      : []),
  ];
}

/** Says when hooks speak that are added, and how to turn each moment off. */
function spokenBy(edits: readonly FileEdit[], { root }: Surroundings): string[] {
  const own = new Set(Object.values(hookClients).map((client) => hookPath(client, root)));
  const added = edits.filter(({ path, before = '', after = '' }) => {
    return own.has(path) && after.includes(' hook ') && !before.includes(' hook ');
  });
  if (added.length === 0) return [];
  return [
    'The hooks give agents a brief when a session starts, and what the memory says about a prompt, file or command: hook_start, hook_prompt, hook_file and hook_command in .memory-bank/config.yaml turn each off.',
  ];
}

/** Names the files of the project that were edited, which only a person commits. */
function leftToCommit(root: string, edits: readonly FileEdit[]): string[] {
  const paths = edits.map(({ path }) => relative(root, path));
  const shared = paths.filter((path) => !isAbsolute(path) && !path.startsWith('..'));
  if (shared.length === 0) return [];
  const names = shared.map((path) => path.split(sep).join('/')).join(', ');
  return [`Not committed: ${names}. Commit them for everybody who works on this project.`];
}

/** Describes what undo removes apart from the files that are shown. */
async function takenBack(root: string): Promise<string[]> {
  const folder = await findOwnFolder(root);
  return folder === undefined ? [] : [`${folder} is removed: it contains caches.`];
}

/** Describes what other people need to start the server, for a plan that edits files of the project. */
function neededByOthers(
  programs: ClientPrograms,
  edits: readonly FileEdit[],
  names: readonly string[],
  around: Surroundings,
): string[] {
  const shared = names.flatMap((name) => {
    const client = own(clients, name);
    const hooks = own(hookClients, name);
    return [
      (client && !hasPersonalFile(client) && reachablePath(() => configPath(client, around))) || [],
      (hooks && reachablePath(() => projectPath(around.root, hookPath(hooks, around.root)))) || [],
    ].flat();
  });
  if (!edits.some(({ path }) => shared.includes(path))) return [];
  const [command = ''] = programs.shared;
  if (withoutCmd(programs.shared).length < programs.shared.length) {
    return [`Files of the project start it with "${command}", which only Windows has.`];
  }
  if (command !== binName) return [];
  const who = findOnPath(binName, around)
    ? `Everybody who works on this project needs "${binName}" on the PATH`
    : `"${binName}" is not on the PATH of this machine, and everybody who works on this project needs it there`;
  return [`${who}, because files of the project start it by this name: ${pathAdvice()}.`];
}

/** The real path of a file; undefined for a link that the plan refuses. */
function reachablePath(resolve: () => string): string | undefined {
  try {
    return resolve();
  } catch (error) {
    if (error instanceof MemoryError) return undefined;
    throw error;
  }
}

/** Whether the clients also get hooks. */
async function choosesHooks(
  { values }: Invocation,
  names: readonly string[],
  ask: boolean,
): Promise<boolean> {
  if (values.hooks === true) return true;
  const titles = names.filter(hasHooks).map((name) => own(clients, name)?.title ?? name);
  if (!ask || titles.length === 0) return false;
  return agrees(
    `Add hooks to ${titles.join(', ')}: a brief of the memory when a session starts, and what it says about a prompt, file or command?`,
  );
}

async function chosenClients(
  { values }: Invocation,
  around: Surroundings,
  undo: boolean,
  ask: boolean,
): Promise<readonly string[]> {
  const all = Object.keys(clients);
  const used = Object.entries(clients).flatMap(([name, client]) =>
    isUsed(client, around) ? name : [],
  );
  const usual = undo ? all : used.length > 0 ? used : ['claude'];
  const given = flagText(values, 'clients');
  const text =
    given ??
    (ask && !undo
      ? (await question(`Clients (${all.join(', ')}) [${usual.join(',')}]: `)) || usual.join(',')
      : usual.join(','));
  if (text === 'all') return all;
  if (text === 'none') return [];
  return namesIn(text);
}

/** The settings of the server for a choice of toolsets. */
function settingsOf(toolsets: readonly string[] | 'all' | undefined): ServerSettings {
  const isChosen = toolsets !== undefined && toolsets !== 'all';
  return {
    options: isChosen ? ['--toolsets', toolsets.join(',')] : [],
    profile: toolsets === undefined ? 'agent' : undefined,
  };
}

/** The toolsets to offer to clients; undefined for the profile of agents. */
async function chosenToolsets(
  { app, options }: Invocation,
  ask: boolean,
): Promise<readonly string[] | 'all' | undefined> {
  if (options.enabled || !ask) return options.enabled;
  const all = await app.toolsets();
  const listed = all.map(({ name }) => name).join(', ');
  const names = namesIn(await question(`Toolsets (${listed}, all) [those an agent needs]: `));
  if (names.length === 0) return undefined;
  if (names.length === 1 && names[0] === 'all') return 'all';
  selectToolsets(all, names);
  return names;
}

function namesIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((name) => name !== '');
}

async function chosenInstructions({ values }: Invocation, ask: boolean): Promise<string[]> {
  const given = values.instructions;
  const names = Array.isArray(given) ? given.map(String) : [];
  if (names.length === 0 && ask) {
    if (await agrees('Add a section for agents to AGENTS.md?')) return ['AGENTS.md'];
  }
  const unknown = names.find((name) => !forAgents.some((one) => one === name));
  if (unknown === undefined) return names;
  throw new MemoryError('invalid_input', `--instructions must be ${forAgents.join(' or ')}.`);
}

async function setUp(
  { invocation, root, session, call }: SetupSession,
  layout: Layout | undefined,
): Promise<string[]> {
  const { app, options } = invocation;
  const commits: MadeCommit[] = [];
  const onCommit = (commit: MadeCommit) => void commits.push(commit);
  const work = ({ project }: Context) => project.initialize();
  const id = await app.run(session, 'init', { ...call, onCommit }, work);
  const converted =
    layout && (await app.run(session, 'init', call, ({ project }) => project.changeLayout(layout)));
  const program = ownProgram();
  const { top } = await setMergeDriver(root, program, options.durability);
  return [
    `The memory of ${root} is ready (project ${id}).`,
    ...commits.map(({ oid, branch }) => {
      const where = branch === undefined ? '' : ` on the branch ${branch}`;
      return `The files of the memory itself are commit ${oid.slice(0, 12)}${where}.`;
    }),
    ...(converted
      ? [`The layout of its logs is "${layout}": commit ${converted.oid.slice(0, 12)}.`]
      : []),
    `git merges it by record in ${top}.`,
    'Restart the clients, or let them connect again.',
    '"memory-bank import" imports what other programs have kept here.',
    ...(isFromNpx(ownMain())
      ? [
          `git merges with this program in the cache of npx, which npm may empty: install it ("npm install -g ${packageName}") and run init again.`,
        ]
      : []),
  ];
}

async function takeBack({ invocation: { options }, root }: SetupSession): Promise<string[]> {
  await leaveRepository(root, options.durability);
  return ['The setup is undone. The memory itself stays in .memory-bank.'];
}
