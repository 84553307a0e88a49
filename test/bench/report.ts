import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

/** Relative to the repository, in which every bench runs. */
const benchmarks = 'docs/benchmarks.md';

/** Rows under a head, as Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map((_, i) => (i === 0 ? '---' : '--:')), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/**
 * Prints the report of a bench, and updates its section of a page.
 *
 * @param name of the bench, and of the marks around its section.
 */
export function report(
  name: string,
  title: string,
  parts: readonly string[],
  file = benchmarks,
): void {
  const text = [`## ${title}`, `\`npm run bench -- ${name}\`, ${machine()}`, ...parts].join('\n\n');
  console.log(`\n${text}\n`);
  writeFileSync(file, replace(readFileSync(file, 'utf8'), name, text));
}

function replace(whole: string, name: string, text: string): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const part = `${open}\n\n${text}\n\n${close}`;
  const start = whole.indexOf(open);
  const end = whole.indexOf(close);
  if (start < 0 || end < 0) return `${whole.trimEnd()}\n\n${part}\n`;
  return whole.slice(0, start) + part + whole.slice(end + close.length);
}

/** The day, the machine and the versions of a run. */
function machine(): string {
  const processors = cpus();
  const git = execFileSync('git', ['--version'], { encoding: 'utf8' }).trim();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const model = processors[0]?.model.trim() ?? 'processor unknown';
  return [
    `${new Date().toISOString().slice(0, 10)}: ${process.platform} ${process.arch}`,
    `${processors.length} cores (${model}), ${memory}, Node.js ${process.versions.node}, ${git}.`,
  ].join(', ');
}
