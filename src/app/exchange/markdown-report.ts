import { basename } from 'node:path';
import type { Context } from '../../core/declarations/context.ts';
import type { Toolset } from '../../core/declarations/toolset.ts';
import { fenced } from '../../core/markdown/fence.ts';
import { contentStart } from '../../core/markdown/sections.ts';
import { byCreation, type Located } from '../../core/memory/listing.ts';
import type { CautionsByPath } from '../../core/memory/store.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { writeYaml } from '../../core/yaml/writer.ts';

/** Writes the whole memory as one markdown text. */
export async function writeMarkdown(
  toolsets: readonly Toolset[],
  context: Context,
): Promise<ReadonlyMap<string, string>> {
  const { root } = await context.project.site();
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
  const title = `# Memory of ${escaped(basename(root))}`;
  if (parts.length === 0) return new Map();
  return new Map([['memory.md', `${[title, state, ...parts].join('\n\n')}\n`]]);
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
  const rest = fields.length === 0 ? '' : fenced(writeYaml(Object.fromEntries(fields)), 'yaml');
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

/** Formats a markdown text for the report, where front matter would become a rule and headings. */
function within(text: string): string {
  const start = contentStart(text);
  const head = text.slice(0, start).trim();
  if (head === '') return demoted(text);
  const yaml = head.replace(/^---.*|(?:---|\.\.\.)$/g, '').trim();
  return [fenced(`${yaml}\n`, 'yaml'), demoted(text.slice(start)).trim()].join('\n\n');
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
