import { readFileSync } from 'node:fs';
import { actionText } from '../../src/toolsets/brief/action-text.ts';
import {
  firstUnknown,
  type KeyedPassage,
  keysOfFile,
  surestFirst,
} from '../../src/toolsets/brief/keyed-passage.ts';
import { recordPassages } from '../../src/toolsets/brief/record-passages.ts';
import { briefSource } from '../../src/toolsets/index.ts';
import { share } from './figures.ts';
import { hookOf, memoryOf } from './hooked-memory.ts';
import { table } from './report.ts';

/** A file that an agent is about to use, and the records that say something about it; none for silence. */
interface FileMoment {
  readonly bank: string;
  readonly file: string;
  readonly about: readonly { readonly path: string; readonly says?: string }[];
}

/** The limits of files that a passage names which are compared; the program has one of them. */
const limits = [1, 2, 4, 8, 1_000];

class MomentTally {
  #silent = 0;
  #spoken = 0;
  #asked = { silence: 0, about: 0 };
  #right = 0;
  #lines = 0;
  #rightLines = 0;

  /** @returns what is wrong in words, or undefined. */
  add({ about, file }: FileMoment, text: string): string | undefined {
    const lines = text.split('\n').filter((line) => line.startsWith('- '));
    const right = lines.filter((line) =>
      about.some(({ path, says = '' }) => line.startsWith(`- ${path}`) && line.includes(says)),
    );
    this.#lines += lines.length;
    this.#rightLines += right.length;
    this.#asked[about.length === 0 ? 'silence' : 'about'] += 1;
    if (about.length === 0) {
      this.#silent += Number(lines.length === 0);
      this.#spoken += Number(lines.length > 0);
    } else {
      this.#right += Number(right.length > 0);
    }
    const wrong = lines.find((line) => !right.includes(line));
    if (wrong !== undefined) return `${file}: wrong: ${wrong.slice(0, 200)}`;
    return about.length > 0 && lines.length === 0 ? `${file}: silent` : undefined;
  }

  cells(): string[] {
    return [
      share(this.#silent, this.#asked.silence),
      share(this.#right, this.#asked.about),
      share(this.#rightLines, this.#lines),
    ];
  }
}

const head = ['without a record: silent', 'with one: right record', 'right of the lines'];

/** Opens files of real projects, and returns a table of what the hook says and one of other limits. */
export async function fileMoments(
  file: string,
): Promise<readonly [byMemory: string, byLimit: string]> {
  const moments = readFileSync(`test/fixtures/search/${file}`, 'utf8')
    .trim()
    .split('\n')
    .map((line): FileMoment => JSON.parse(line));
  const rows: string[][] = [];
  const all = new MomentTally();
  const curve = new Map(limits.map((limit) => [limit, new MomentTally()]));
  for (const bank of new Set(moments.map((one) => one.bank))) {
    const repo = memoryOf(bank);
    if (!repo) continue;
    const hook = hookOf(repo);
    const tally = new MomentTally();
    const records = await hook.run(
      async (context) => (await briefSource(context).listing()).records,
    );
    const own = moments.filter((one) => one.bank === bank);
    for (const one of own) {
      const tool_input = { file_path: one.file };
      const text = await hook.answer('action', 'PreToolUse', { tool_name: 'Read', tool_input });
      const failure = tally.add(one, text);
      all.add(one, text);
      if (failure) console.error(`  ${failure}`);
    }
    for (const [limit, bound] of curve) {
      const passages = records.flatMap((record) => recordPassages(record, [], limit));
      passages.sort(surestFirst);
      for (const one of own) bound.add(one, textOf(one.file, passages));
    }
    rows.push([bank.replace('+', '/'), ...tally.cells()]);
    await hook.close();
    repo.remove();
  }
  const curved = [...curve].map(([limit, tally]) => {
    return [limit === limits.at(-1) ? 'any number' : String(limit), ...tally.cells()];
  });
  return [
    table(['', ...head], [...rows, ['all', ...all.cells()]]),
    table(['files that a passage names at most', ...head], curved),
  ];
}

function textOf(file: string, passages: readonly KeyedPassage[]): string {
  const keys = keysOfFile(file);
  const found = keys.flatMap((key) => passages.filter((one) => one.keys.includes(key)));
  const doubts = { reasons: [], superseded: false, files: [] };
  const first = firstUnknown(found, () => false, 12).sort(surestFirst);
  return actionText(
    file,
    first.map((one) => ({ ...one, doubts, commit: undefined })),
  ).text;
}
