import { basename } from 'node:path';
import type { Context } from '../../core/declarations/context.ts';
import type { Toolset } from '../../core/declarations/toolset.ts';
import { renderHtml } from '../../core/markdown/html.ts';
import { contentStart } from '../../core/markdown/sections.ts';
import { byCreation, type CautionsByPath, type Located } from '../../core/memory/store.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { writeYaml } from '../../core/yaml/writer.ts';

type Files = ReadonlyMap<string, string>;

/** Writes the whole memory as one markdown text. */
export async function writeMarkdown(
  toolsets: readonly Toolset[],
  context: Context,
): Promise<Files> {
  const { title, text } = await compose(toolsets, context);
  return text === '' ? new Map() : new Map([['memory.md', `# ${title}\n\n${text}`]]);
}

/** Writes the whole memory as one self-contained page. */
export async function writeHtml(toolsets: readonly Toolset[], context: Context): Promise<Files> {
  const { title, text } = await compose(toolsets, context);
  if (text === '') return new Map();
  // Raw HTML in a record is shown as text: a page must not run stored code.
  const body = renderHtml(`# ${title}\n\n${text}`);
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</title>
<style>
body { max-width: 50rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
pre { overflow: auto; padding: 0.6rem; background: #8882; }
table { border-collapse: collapse; } td, th { border: 1px solid #8886; padding: 0.2rem 0.5rem; }
.code-point { padding: 0 0.25em; border: 1px solid; color: #c22; font: 0.75em ui-monospace, monospace; }
h2 { margin-top: 3rem; border-bottom: 1px solid #8886; } :root { color-scheme: light dark; }
</style>
</head>
<body>
${body}
</body>
</html>
`;
  return new Map([['memory.html', page]]);
}

async function compose(toolsets: readonly Toolset[], context: Context) {
  const { root } = await context.project.info();
  const { branch, oid } = await context.project.head();
  const cautions = await cautionsOfAll(toolsets, context);
  const parts: string[] = [];
  for (const toolset of toolsets) {
    const sections: string[] = [];
    for (const type of toolset.records) {
      const { records } = await context.store.list(type);
      sections.push(
        ...ordered(records).map((record) => section(type, record, cautions.get(record.path))),
      );
    }
    if (sections.length > 0) parts.push(`## ${toolset.title}`, ...sections);
  }
  const state =
    oid === undefined ? '' : `As of ${branch ?? 'a detached HEAD'}, ${oid.slice(0, 12)}.`;
  const title = `Memory of ${escaped(basename(root))}`;
  return { title, text: parts.length === 0 ? '' : `${[state, ...parts].join('\n\n')}\n` };
}

/** Returns why readers should not rely on records of any of the toolsets. */
export async function cautionsOfAll(
  toolsets: readonly Toolset[],
  { store }: Context,
): Promise<CautionsByPath> {
  const paths: string[] = [];
  for (const type of toolsets.flatMap(({ records }) => records)) {
    paths.push(...(await store.list(type)).records.map(({ path }) => path));
  }
  return store.cautions(paths);
}

/** Sorts by creation time, oldest first, if the records have one, else by path. */
function ordered(records: readonly Located<object>[]): readonly Located<object>[] {
  const dated = records.flatMap((record) => {
    const { value } = record;
    if (!('created_at' in value) || typeof value.created_at !== 'string') return [];
    return [{ ...record, value: { ...value, created_at: value.created_at } }];
  });
  return dated.length === records.length ? byCreation(dated) : records;
}

/** Formats a record: title, what is known against it, fields, text. */
function section(
  type: AnyRecordType,
  { path, value }: Located<object>,
  caution: readonly string[] = [],
): string {
  const { title, body = '' } = type.search(value);
  const isText = (field: unknown) => body !== '' && field === body && path.endsWith('.md');
  const fields = Object.entries(value).filter(
    ([name, field]) => !isText(field) && !(name === 'path' && field === path) && field !== title,
  );
  const rest = fields.length === 0 ? '' : fenced(writeYaml(Object.fromEntries(fields)));
  const text = path.endsWith('.md') ? within(body) : '';
  const heading = `### ${title.replace(/\s+/g, ' ').trim()}`;
  const warning = caution.map((reason) => `> **Caution:** ${escaped(reason)}`).join('\n>\n');
  return [heading, `\`${path}\``, warning, rest, text.trim()]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** Escapes the characters that markdown would format. */
function escaped(text: string): string {
  return text.replace(/[\\`*_[\]<>]/g, '\\$&');
}

function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}yaml\n${text}${fence}`;
}

/** Formats a markdown text for the report, where front matter would become a rule and headings. */
function within(text: string): string {
  const start = contentStart(text);
  const head = text.slice(0, start).trim();
  if (head === '') return demoted(text);
  const yaml = head.replace(/^---.*|(?:---|\.\.\.)$/g, '').trim();
  return [fenced(`${yaml}\n`), demoted(text.slice(start)).trim()].join('\n\n');
}

/** Lowers the headings of a markdown text below those of the report; code is not changed. */
function demoted(text: string): string {
  let fence: string | undefined;
  return text
    .split('\n')
    .map((line) => {
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
      if (mark !== undefined && fence === undefined) fence = mark;
      else if (mark !== undefined && fence !== undefined && mark.startsWith(fence))
        fence = undefined;
      if (fence !== undefined) return line;
      return line.replace(/^( {0,3})(#{1,6})(?=[ \t])/, (_, indent: string, marks: string) => {
        return `${indent}${'#'.repeat(Math.min(6, marks.length + 3))}`;
      });
    })
    .join('\n')
    .concat(fence === undefined ? '' : `\n${fence}`);
}
