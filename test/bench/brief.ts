import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { entryRecord } from '../../src/toolsets/knowledge/entry.ts';

import { Random } from '../support/random.ts';
import { gitEnv, Repo } from '../support/repo.ts';
import { count, ratio, Times } from './figures.ts';
import { entry, placeOf } from './knowledge.ts';
import { addFiles, project } from './project.ts';
import { report, table } from './report.ts';
import { program } from './server.ts';

/**
 * Measures the brief: the time of each hook as a new process next to `node -e 0`, its size, and how many
 * of the records that matter for a task it contains.
 *
 * The tasks are commits of a history: `npm run bench -- brief [repository]`; without one, the project's
 * own. The memory of a task has a record for each earlier commit, which names the files of that commit.
 */

const sizes = [0, 100, 1_000, 10_000];
const starts = 15;
const tasks = 40;
const recordsOfTask = 300;
const filesOfRecord = 5;
const seed = 4711;

const prompt = 'Why does the retry of the queue wait for the lock of a worker?';

const hooks = ['session-start', 'prompt', 'action', 'stop', 'pre-compact', 'session-end'];
/** The hook of an action that a record is about. */
const spoken = 'action of a record';
/** The file that such records name. */
const fileOf = (i: number) => `src/part-${i}.ts`;

/** The sentences of the project's pages. */
const sentences = readdirSync('docs')
  .filter((name) => name.endsWith('.md'))
  .flatMap((name) => readFileSync(join('docs', name), 'utf8').split(/(?<=\.)\s+/))
  .filter((sentence) => /^[A-Z][^|#\n]{40,250}\.$/.test(sentence));

/** Entries of every category, a third of which are in the brief of any branch, with real sentences. */
function* mixed(count: number): Generator<[path: string, text: string]> {
  const categories = ['project-learnings', 'patterns', 'decisions'] as const;
  const random = new Random(seed);
  for (let i = 0; i < count; i++) {
    const four = Array.from({ length: 4 }, () => sentences[random.below(sentences.length)]);
    const value = {
      ...entry(i, 'First'),
      category: categories[i % 3] ?? 'decisions',
      value: `${four.join(' ')} See ${fileOf(i)}.\n`,
    };
    yield [placeOf(i, value), entryRecord.codec.encode(value)];
  }
}

function input(event: string, root: string, i: number, as?: string): string {
  const names: Record<string, string> = {
    prompt: 'UserPromptSubmit',
    action: 'PreToolUse',
    [spoken]: 'PreToolUse',
    stop: 'Stop',
    'pre-compact': 'PreCompact',
    'session-end': 'SessionEnd',
  };
  const name = as ?? names[event] ?? 'SessionStart';
  return JSON.stringify({
    session_id: `${event} ${i}`,
    hook_event_name: name,
    cwd: root,
    prompt,
    tool_name: 'Read',
    tool_input: { file_path: join(root, event === spoken ? fileOf(i) : 'src/other.ts') },
  });
}

function run(root: string, args: readonly string[], text = '', env: NodeJS.ProcessEnv = {}) {
  const options = { cwd: root, input: text, env: { ...gitEnv, ...env }, encoding: 'utf8' as const };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  return stdout;
}

const timeRows: string[][] = [];
const sizeRows: string[][] = [];
for (const size of sizes) {
  const repo = project();
  if (size > 0) addFiles(repo, 'packed', mixed(size));
  await setTimeout(100);
  const brief = run(repo.root, [program, 'brief']);
  sizeRows.push([count(size), count(brief.length), count(countTokens(brief))]);
  const node = new Times();
  const commands = ['brief', ...hooks, spoken];
  const times = new Map(commands.map((name) => [name, new Times()]));
  run(repo.root, [program, 'hook', 'session-start'], input('session-start', repo.root, -1));
  for (let i = 0; i < starts; i++) {
    await node.measure(() => run(repo.root, ['-e', '0']));
    for (const [name, measured] of times) {
      // The session of any other event has begun.
      if (name !== 'brief' && name !== 'session-start') {
        run(
          repo.root,
          [program, 'hook', 'session-start'],
          input(name, repo.root, i, 'SessionStart'),
        );
      }
      const event = name === spoken ? 'action' : name;
      const args = name === 'brief' ? [program, name] : [program, 'hook', event];
      await measured.measure(() => run(repo.root, args, input(name, repo.root, i)));
    }
  }
  const cells = commands.map((name) => ratio(times.get(name) ?? node, node));
  timeRows.push([count(size), node.text, ...cells]);
  console.log(timeRows.at(-1)?.join(' | '));
  repo.remove();
}

interface Commit {
  readonly subject: string;
  readonly message: string;
  readonly files: readonly string[];
}

/** The commits of a history with a few changed files, the oldest first. */
function commitsOf(source: string): Commit[] {
  const format = ['log', '--reverse', '--no-merges', '--name-only', '--format=%x00%s%x01%B%x01'];
  const text = execFileSync('git', format, { cwd: source, encoding: 'utf8', maxBuffer: 2 ** 28 });
  return text
    .split('\0')
    .slice(1)
    .map((part) => {
      const [subject = '', message = '', names = ''] = part.split('\x01');
      return { subject, message: message.trim(), files: names.split('\n').filter(Boolean) };
    })
    .filter(({ files }) => files.length > 0 && files.length <= 2 * filesOfRecord);
}

/** The share of the records about the files of a task that its brief contains. */
function recallOf(commits: readonly Commit[], at: number, random: Random): number | undefined {
  const task = commits[at];
  const earlier = commits.slice(Math.max(0, at - 4 * recordsOfTask), at);
  if (!task) return undefined;
  const chosen = earlier
    .map((commit) => ({ commit, order: random.below(2 ** 30) }))
    .sort((a, b) => a.order - b.order)
    .slice(0, recordsOfTask);
  const repo = Repo.create();
  const mattering: string[] = [];
  for (const [i, { commit }] of chosen.entries()) {
    const named = commit.files.slice(0, filesOfRecord);
    const time = new Date(1_700_000_000_000 + i * 1000).toISOString();
    const value = {
      category: 'project-learnings' as const,
      key: `learning-${i}`,
      value: `${commit.message}\n\nSee ${named.join(', ')}.`,
      created_at: time,
      updated_at: time,
    };
    repo.write(`.memory-bank/${entryRecord.path(value)}`, entryRecord.codec.encode(value));
    if (named.some((file) => task.files.includes(file))) mattering.push(entryRecord.path(value));
  }
  if (mattering.length === 0) {
    repo.remove();
    return undefined;
  }
  for (const file of task.files) repo.write(file, 'before\n');
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', 'Start');
  for (const file of task.files) repo.write(file, 'the change of the task\n');
  const brief = run(repo.root, [program, 'brief', '--prompt', task.subject]);
  repo.remove();
  // A brief has room for some of them only.
  const possible = Math.min(mattering.length, 20);
  return Math.min(1, mattering.filter((path) => brief.includes(path)).length / possible);
}

const [given] = process.argv.slice(2).filter((arg) => !arg.startsWith('-'));
const commits = commitsOf(resolve(given ?? '.'));
const random = new Random(seed);
const shares: number[] = [];
for (let i = 0; i < 4 * tasks && shares.length < tasks && commits.length > 10; i++) {
  const at = Math.floor(commits.length / 2) + random.below(Math.floor(commits.length / 2));
  const share = recallOf(commits, at, random);
  if (share !== undefined) shares.push(share);
}
const mean = shares.reduce((sum, share) => sum + share, 0) / Math.max(1, shares.length);

report('brief', 'The brief and the hooks', [
  'Each command as a new process, next to `node -e 0`: medians in one run. Nothing has changed since the last brief. The texts of the records are sentences of the project’s pages, and the hook of a prompt finds some of them.',
  table(
    [
      'records',
      '`node -e 0`, ms',
      '`brief`',
      ...hooks.map((name) => `\`${name}\``),
      '`action` with something to say',
    ],
    timeRows,
  ),
  'The size of a brief with the default budget of 6,000 characters:',
  table(['records', 'characters', 'tokens'], sizeRows),
  `Of ${count(shares.length)} commits of a history (the project’s own unless another one is given), the work tree has the changed files and the prompt is the subject. The memory has ${count(recordsOfTask)} records, which are the messages of earlier commits, each with the names of up to ${filesOfRecord} files. The brief contains **${(100 * mean).toFixed(0)}%** of the records that name one of the changed files, out of at most 20 for which it has room.`,
]);
