import { counted } from '../../core/answers/painter.ts';
import { changedRecordLines } from '../../core/memory/change-lines.ts';
import type { Memories, MemoryPin, PinPreview } from '../../core/memory/pinned-memories.ts';
import { MemoryError } from '../../core/values/error.ts';
import { type Command, flagText, type Invocation } from '../line/command.ts';
import { mayGoOn } from '../line/prompt.ts';
import { asJson, outputFlag, showResult } from '../line/result.ts';
import { inSession } from '../line/run-in-session.ts';
import { memoryJson, memoryLine } from '../screen/memory-lines.ts';
import { Screen } from '../screen/terminal.ts';

const actions = ['list', 'fetch', 'add', 'update', 'remove'] as const;
type Action = (typeof actions)[number];

/** One run of the command. */
interface Run {
  readonly values: Invocation['values'];
  readonly memories: Memories;
  readonly name: string | undefined;
  readonly address: string | undefined;
}

/** `memory-bank memories`: lists, fetches and pins memories of other repositories. */
export const memories: Command = {
  about: 'list the pinned memories of other repositories; fetch, add, update or remove them',
  operands: ['action?', 'name?', 'address?'],
  flags: {
    ref: {
      value: 'branch',
      about: 'add, update: the branch or tag',
      default: 'the default branch',
    },
    commit: { value: 'id', about: 'add, update: this commit, not the newest one of the branch' },
    folder: {
      value: 'folder',
      about: 'add: the memory folder in the repository',
      default: '.memory-bank',
    },
    'as-of': { value: 'revision', about: 'fetch: the pins of a commit, branch or date' },
    yes: { about: 'do not ask' },
    'dry-run': { about: 'only show what would change' },
    ...outputFlag,
  },
  async run(invocation) {
    const { app, values, operands } = invocation;
    const [given = 'list', name, address] = operands;
    const action = actions.find((one) => one === given);
    if (!action) {
      throw new MemoryError('invalid_input', `There is no action "${given}".`, {
        hint: `The actions are: ${actions.join(', ')}.`,
      });
    }
    return inSession(invocation, (session, call) =>
      app.run(session, 'memories', call, ({ memories }) =>
        run[action]({ values, memories, name, address }),
      ),
    );
  },
};

const run: { readonly [action in Action]: (run: Run) => Promise<number> } = {
  async list({ values, memories }) {
    const all = await memories.list();
    await showResult(values, { memories: all.map(memoryJson) }, (screen) =>
      all.length === 0
        ? ['No memory of another repository is pinned.']
        : all.map((one) => screen.plain(memoryLine(one))),
    );
    return 0;
  },
  async fetch({ values, memories, name }) {
    const all = await memories.fetch(name, flagText(values, 'as-of'));
    await showResult(values, { memories: all.map(memoryJson) }, (screen) =>
      all.map((one) => screen.paint(one.problem === undefined ? 'good' : 'bad', memoryLine(one))),
    );
    return all.some(({ problem }) => problem !== undefined) ? 6 : 0;
  },
  async add(run) {
    const { values, memories, name, address } = run;
    if (name === undefined || address === undefined) {
      throw new MemoryError('invalid_input', 'A name and an address are needed.', {
        hint: 'For example: memory-bank memories add conventions https://git.example.org/conventions.git',
      });
    }
    if ((await memories.list()).some((one) => one.name === name)) {
      throw new MemoryError('already_exists', `${name} is pinned already.`, {
        hint: `"memory-bank memories update ${name}" changes its commit.`,
      });
    }
    // As in git: a colon before the first slash separates a host or scheme from a path.
    const isUrl = /^[^/\\]+:/.test(address) && !/^[a-z]:[\\/]/i.test(address);
    return propose(run, {
      name,
      ...(isUrl ? { url: address } : { path: address }),
      ...optional('ref', flagText(values, 'ref')),
      commit: flagText(values, 'commit') ?? '',
      ...optional('folder', flagText(values, 'folder')),
    });
  },
  async update(run) {
    const { values, memories, name } = run;
    const all = (await memories.list()).filter((one) => name === undefined || one.name === name);
    if (all.length === 0) throw unknown(name);
    for (const { records: _, problem: __, ...pin } of all) {
      const ref = flagText(values, 'ref') ?? pin.ref;
      const commit = flagText(values, 'commit') ?? '';
      await propose(run, { ...pin, ...optional('ref', ref), commit });
    }
    return 0;
  },
  async remove({ values, memories, name }) {
    const found = (await memories.list()).find((one) => one.name === name);
    if (name === undefined || !found) throw unknown(name);
    const { records: _, problem: __, ...pin } = found;
    const screen = new Screen();
    const json = asJson(values);
    if (!json) await screen.print(`${screen.plain(`Remove the pin: ${memoryLine(found)}`)}\n`);
    if (values['dry-run'] === true) {
      if (json) await showResult(values, { pin, removed: false }, () => []);
      return 0;
    }
    if (!(await mayGoOn(values, 'Remove it?'))) return 0;
    const made = await memories.pin(name, pin, undefined);
    await memories.forget(name);
    await showResult(values, { pin, removed: true, commit: made?.oid ?? null }, (screen) => [
      screen.paint('good', `${name} is no longer pinned.`),
    ]);
    return 0;
  },
};

/** Shows what a pin would change by record, and writes it if that is wanted. */
async function propose({ values, memories }: Run, wanted: MemoryPin): Promise<number> {
  const preview = await memories.preview(wanted);
  const { pin, before } = preview;
  const screen = new Screen();
  const json = asJson(values);
  if (!json) await screen.print(`${previewLines(screen, preview).join('\n')}\n`);
  const isSame =
    before !== undefined && JSON.stringify(sorted(before)) === JSON.stringify(sorted(pin));
  if (isSame) {
    if (json) await showResult(values, previewJson(preview, undefined), () => []);
    return 0;
  }
  let isPinned = before?.commit === pin.commit;
  try {
    if (!(await isWanted(values, preview))) return 0;
    const made = await memories.pin(pin.name, before, pin);
    isPinned = true;
    await showResult(values, previewJson(preview, made?.oid), (screen) => [
      screen.paint('good', `${pin.name} is pinned at ${pin.commit.slice(0, 12)}.`),
    ]);
    return 0;
  } finally {
    if (!isPinned) await memories.forget(pin.name, pin.commit);
  }
}

/** Whether a pin that was shown is to be written. */
async function isWanted(values: Run['values'], preview: PinPreview): Promise<boolean> {
  if (values['dry-run'] !== true) return mayGoOn(values, 'Pin this commit?');
  if (asJson(values)) await showResult(values, previewJson(preview, undefined), () => []);
  return false;
}

function previewLines(screen: Screen, { pin, before, changes, problem }: PinPreview): string[] {
  const from = before === undefined ? '' : `${before.commit.slice(0, 12)} to `;
  const source = pin.url ?? pin.path ?? '';
  const title = `${pin.name}: ${source}, ${from}${pin.commit.slice(0, 12)}`;
  const note =
    problem === undefined ? [] : [screen.paint('key', `${problem} All records are shown.`)];
  const lines = changes.flatMap((change) => changedRecordLines(screen, change));
  const count = changes.length === 0 ? 'No record changes.' : counted(changes.length, 'record');
  return [screen.paint('title', title), ...note, ...lines, screen.paint('faint', count)];
}

function previewJson({ pin, before, changes, problem }: PinPreview, commit: string | undefined) {
  return {
    pin,
    before: before ?? null,
    changes: changes.map(({ path, from, change }) => ({ path, ...optional('from', from), change })),
    ...optional('problem', problem),
    commit: commit ?? null,
  };
}

function optional<K extends string, V>(key: K, value: V | undefined): { [key in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [key in K]?: V });
}

function sorted(pin: MemoryPin): unknown {
  return Object.entries(pin).sort(([a], [b]) => (a < b ? -1 : 1));
}

function unknown(name: string | undefined): MemoryError {
  const what = name === undefined ? 'No memory is pinned.' : `No memory "${name}" is pinned.`;
  return new MemoryError('not_found', what, { hint: '"memory-bank memories" lists them.' });
}
