import { readFileSync } from 'node:fs';
import { share } from './figures.ts';
import { hookOf } from './hooked-memory.ts';
import { project } from './project.ts';
import { table } from './report.ts';

/** An entry of the memory, or a command with the entry that corrects it; a command without one gets nothing. */
type Line =
  | {
      readonly record: string;
      readonly category: string;
      readonly key: string;
      readonly value: string;
    }
  | { readonly command: string; readonly about?: string };

/** Runs commands in a memory with corrections, and returns a table of what the hook says. */
export async function commandMoments(): Promise<string> {
  const lines = readFileSync('test/fixtures/search/command-moments.jsonl', 'utf8')
    .trim()
    .split('\n')
    .map((line): Line => JSON.parse(line));
  const repo = project();
  const hook = hookOf(repo);
  const [asked, right] = [
    { silence: 0, about: 0 },
    { silence: 0, about: 0, lines: 0 },
  ];
  let shown = 0;
  for (const line of lines) {
    if ('record' in line) {
      const { category, key, value } = line;
      await hook.write({ category, key, value });
      continue;
    }
    const { command, about } = line;
    const given = { tool_name: 'Bash', tool_input: { command } };
    const text = await hook.answer('action', 'PreToolUse', given);
    const said = text.split('\n').filter((one) => one.startsWith('- '));
    const found = said.filter((one) => about !== undefined && one.startsWith(`- ${about}`));
    shown += said.length;
    right.lines += found.length;
    asked[about === undefined ? 'silence' : 'about'] += 1;
    if (about === undefined) right.silence += Number(said.length === 0);
    else right.about += Number(found.length > 0);
    const wrong = said.find((one) => !found.includes(one));
    if (wrong !== undefined) console.error(`  ${command}: wrong: ${wrong}`);
    else if (about !== undefined && found.length === 0) console.error(`  ${command}: silent`);
  }
  await hook.close();
  repo.remove();
  return table(
    ['', 'without a record: silent', 'with one: right record', 'right of the lines'],
    [
      [
        'commands',
        share(right.silence, asked.silence),
        share(right.about, asked.about),
        share(right.lines, shown),
      ],
    ],
  );
}
