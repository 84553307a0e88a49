import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { Tool } from '../../src/core/declarations/tool.ts';
import { isObject, type JsonValue } from '../../src/core/values/json.ts';
import { toolsets } from '../../src/toolsets/index.ts';

const top = resolve(import.meta.dirname, '../..');

/** Value of a constant in the source, which is a product of numbers. */
function constant(file: string, name: string): number {
  const text = readFileSync(resolve(top, 'src', file), 'utf8');
  const [, product] = new RegExp(`^(?:export )?const ${name} = ([\\d_ *]+);`, 'm').exec(text) ?? [];
  if (product === undefined) throw new Error(`src/${file} has no constant ${name}`);
  return product
    .split('*')
    .reduce((whole, factor) => whole * Number(factor.replaceAll('_', '')), 1);
}

type Unit = 'bytes' | 'ms' | '';

/** Each limit: its subject, its constant, and what happens beyond it. */
const limits: readonly (readonly [
  what: string,
  file: string,
  name: string,
  unit: Unit,
  beyond: string,
])[] = [
  [
    'a message over stdio',
    'server/mcp/stdio.ts',
    'maxMessageBytes',
    'bytes',
    'JSON-RPC error -32600; the next message is read',
  ],
  [
    'messages in a JSON-RPC batch',
    'server/mcp/line-transport.ts',
    'maxBatch',
    '',
    'JSON-RPC error -32600',
  ],
  [
    'the body of an HTTP request',
    'server/http/server/limits.ts',
    'maxBodyBytes',
    'bytes',
    'status 413',
  ],
  [
    'sign-ins by an issuer that have begun',
    'server/http/auth/sign-in.ts',
    'maxAttempts',
    '',
    'the oldest one has to begin again',
  ],
  [
    'sessions of the REST API',
    'server/http/server/endpoint.ts',
    'maxSessions',
    '',
    'the longest idle one is forgotten',
  ],
  [
    'MCP sessions over HTTP',
    'server/http/sessions/mcp-sessions.ts',
    'maxOpen',
    '',
    'the longest idle one is closed; status 503 if none is idle',
  ],
  [
    'MCP sessions of one caller',
    'server/http/sessions/mcp-sessions.ts',
    'maxShare',
    '',
    'its longest idle one is closed; status 429 if none is idle',
  ],
  [
    'session handles over HTTP',
    'server/mcp/session-handles.ts',
    'maxKept',
    '',
    'the one that was not used for longest is forgotten',
  ],
  [
    'session handles of one caller',
    'server/mcp/session-handles.ts',
    'maxOfCaller',
    '',
    'the same, of this caller',
  ],
  [
    'MCP subscriptions of one caller',
    'server/mcp/subscriptions.ts',
    'maxSubscriptions',
    '',
    'JSON-RPC error -32603',
  ],
  [
    'resources of one MCP subscription',
    'server/mcp/subscriptions.ts',
    'maxSubscribed',
    '',
    'the acknowledgment names those within the limit',
  ],
  [
    'connections over HTTP',
    'server/http/http.ts',
    'maxConnections',
    '',
    'an idle one of the address with the most is closed; if none is idle, the new one',
  ],
  [
    'waiting requests of one connection',
    'server/http/server/backlog.ts',
    'maxPipelined',
    '',
    'the connection is closed',
  ],
  [
    'unread answers over HTTP',
    'server/http/server/backlog.ts',
    'maxWaitingBytes',
    'bytes',
    'status 503, or an error of the MCP tool, before a read begins',
  ],
  [
    'unread answers of one connection',
    'server/http/server/backlog.ts',
    'maxStreamBytes',
    'bytes',
    'the same for each call of it; a stream of notifications is closed',
  ],
  [
    'unread answers over HTTP, for changes',
    'server/http/server/backlog.ts',
    'maxWaitingForChanges',
    'bytes',
    'the same before a change begins',
  ],
  [
    'a record that a tool writes',
    'store/records/transaction.ts',
    'maxRecordBytes',
    'bytes',
    '`too_large`; nothing is written',
  ],
  [
    'a file of the memory-bank toolset',
    'toolsets/memory-bank/memory-file.ts',
    'maxFileBytes',
    'bytes',
    '`too_large`; nothing is written',
  ],
  [
    'a file of the memory that is read',
    'store/records/record-file.ts',
    'maxFileBytes',
    'bytes',
    'the file is reported as damaged; everything else is served',
  ],
  [
    'folders above a record',
    'store/records/folder-scan.ts',
    'maxDepth',
    '',
    '`too_large`; deeper files made by hand are ignored',
  ],
  [
    'YAML, or front matter, of one record',
    'core/yaml/yaml.ts',
    'maxYamlBytes',
    'bytes',
    '`too_large` when written, `damaged` when read',
  ],
  [
    'levels of YAML',
    'core/yaml/reader.ts',
    'maxYamlDepth',
    '',
    '`too_large` when written, `damaged` when read',
  ],
  [
    'brackets, aliases and other marks in YAML written by hand',
    'core/yaml/foreign.ts',
    'maxYamlMarks',
    '',
    '`damaged`',
  ],
  ['levels of metadata', 'toolsets/knowledge/entry.ts', 'maxDepth', '', '`invalid_input`'],
  [
    'one segment of a file name that a caller chooses',
    'core/names/file-name.ts',
    'maxSegmentBytes',
    'bytes',
    '`invalid_input`',
  ],
  ['folders in such a name', 'core/names/file-name.ts', 'maxFolders', '', '`invalid_input`'],
  [
    'a file name made from a key',
    'core/names/name.ts',
    'maxNameBytes',
    'bytes',
    'it is cut, and gets a hash if the name exists',
  ],
  [
    'a rule file',
    'store/modes/mode-library.ts',
    'maxBytes',
    'bytes',
    'the file is skipped and reported',
  ],
  [
    'patterns in one list of a rule file, braces expanded',
    'store/modes/access.ts',
    'maxPatterns',
    '',
    'the rule file is skipped and reported',
  ],
  [
    'characters of a pattern',
    'store/modes/access.ts',
    'maxLength',
    '',
    'the rule file is skipped and reported',
  ],
  [
    '"[" in a pattern',
    'store/modes/access.ts',
    'maxClasses',
    '',
    'the rule file is skipped and reported; `invalid_input` in a search',
  ],
  [
    'characters of a command pattern (`trigger`)',
    'store/modes/command-pattern.ts',
    'maxLength',
    '',
    'the trigger counts as plain text',
  ],
  ['hits of a search', 'store/search/record-search.ts', 'maxLimit', '', '`invalid_input`'],
  [
    'the index that is saved for the next process',
    'store/records/saved-layout.ts',
    'maxSavedBytes',
    'bytes',
    'it is not saved; the next process reads all records',
  ],
  [
    'its size in percent of the record files',
    'store/session/saved-index.ts',
    'maxPercent',
    '',
    'it is saved without the values of the records, or not at all',
  ],
  [
    'files of a memory that has a digest for hooks',
    'app/hook/digest-writer.ts',
    'maxFiles',
    '',
    'hooks start the whole program',
  ],
  [
    'all files of a memory that has a digest for hooks',
    'app/hook/digest-writer.ts',
    'maxMemory',
    'bytes',
    'the same',
  ],
  [
    'a file in the search index',
    'store/search/indexed-records.ts',
    'maxIndexedBytes',
    'bytes',
    'the file is searched only literally (`fuzzy: false`); the answer and `doctor` name it',
  ],
  [
    'all files in the search index',
    'store/search/indexed-records.ts',
    'maxTotalBytes',
    'bytes',
    'the same for the largest of them',
  ],
  [
    'different words in the search index',
    'store/search/indexed-records.ts',
    'maxWords',
    '',
    'the same for the largest of them',
  ],
  [
    'occurrences of words in the search index',
    'store/search/indexed-records.ts',
    'maxTokens',
    '',
    'the same for the largest of them',
  ],
  [
    'files of one type in a list',
    'store/records/bounded-listing.ts',
    'maxListedBytes',
    'bytes',
    'the largest ones are reported as too large; they can be read by name',
  ],
  [
    'files outside the search index that one literal search reads',
    'store/search/record-search.ts',
    'maxReadBytes',
    'bytes',
    'the answer names the others; `path` or `type` narrows the search',
  ],
  [
    'the subject of a commit, characters',
    'store/records/message.ts',
    'maxSubject',
    '',
    'cut, with "…"',
  ],
  [
    'the reason in a commit, characters',
    'store/records/message.ts',
    'maxReason',
    '',
    'cut, with "…"',
  ],
  [
    'a trailer of a commit, characters',
    'store/records/message.ts',
    'maxTrailer',
    '',
    'cut, with "…"',
  ],
  [
    'records named in a commit',
    'store/records/message.ts',
    'maxRecords',
    '',
    'the rest is only counted',
  ],
  [
    'commits that `memory-bank squash` combines',
    'store/history/unpushed-commits.ts',
    'maxCommits',
    '',
    'older ones are left alone',
  ],
  ['characters of a revision', 'store/history/revision.ts', 'maxLength', '', '`invalid_input`'],
  [
    'paths in an answer of `restore_memory`',
    'toolsets/history/restore-memory.ts',
    'maxPaths',
    '',
    'the rest is only counted',
  ],
  [
    'an answer of a tool, a resource or a prompt over MCP, characters',
    'core/answers/answer-limit.ts',
    'maxAnswer',
    '',
    'the end of its longest lists is left out, then its longest texts are cut at the end of a line, then its other lists and objects are shortened; the answer says how to ask for the rest, and no tool accepts a text that contains that line',
  ],
  [
    'the list in an answer of a history tool, bytes',
    'toolsets/history/answer.ts',
    'listBudget',
    '',
    'the answer says how to ask for the rest',
  ],
  ['a text in that list, characters', 'toolsets/history/answer.ts', 'maxText', '', 'cut, with "…"'],
  [
    'a difference or value in that list, characters',
    'toolsets/history/answer.ts',
    'maxDiff',
    '',
    'cut, with "…"',
  ],
  [
    'a text that a model summarises',
    'toolsets/banks/cache.ts',
    'maxModelText',
    'bytes',
    'the model gets a built-in summary of that size',
  ],
  [
    'texts that wait for a summary by a model',
    'app/model/extractive-summarizer.ts',
    'maxWaiting',
    '',
    'the others are requested when they are needed again',
  ],
  [
    'commits that the search for the last change of a bank reads',
    'store/history/last-change.ts',
    'maxWalk',
    '',
    'the last change counts as unknown',
  ],
  ['a git object', 'git/objects/pack.ts', 'maxObjectSize', 'bytes', '`damaged`'],
  [
    'packed objects in one fetch of sync',
    'git/remote/quarantine.ts',
    'maxFetched',
    'bytes',
    '`too_large`',
  ],
  [
    'files that one sync writes',
    'store/sync/size-check.ts',
    'maxBrought',
    'bytes',
    '`too_large`, with the path',
  ],
  [
    'one version of a record in a merge',
    'store/records/record-file.ts',
    'maxFileBytes',
    'bytes',
    '`too_large` in `sync_memory`; `resolve_conflicts` leaves it in conflict',
  ],
  [
    'one git process in sync',
    'git/remote/program-remote.ts',
    'defaultTimeout',
    'ms',
    '`remote`; git is stopped',
  ],
  ['lost races for a branch in sync', 'store/sync/synchronize.ts', 'maxAttempts', '', '`busy`'],
  [
    'nested includes in the git configuration',
    'git/repository/config.ts',
    'maxIncludeDepth',
    '',
    'not followed',
  ],
  ['files of the git configuration', 'git/repository/config.ts', 'maxFiles', '', 'not read'],
  [
    'a file of the git configuration',
    'git/repository/config.ts',
    'maxConfigSize',
    'bytes',
    'not read',
  ],
  [
    'a file of ignore rules',
    'git/repository/ignore.ts',
    'maxBytes',
    'bytes',
    '`too_large`; nothing is written',
  ],
  [
    'a file `.git` that names a git directory',
    'git/repository/discover.ts',
    'maxPointer',
    'bytes',
    'not read',
  ],
  ['any other file of git', 'git/disk/file-layer.ts', 'maxFileSize', 'bytes', '`storage`'],
  [
    'a client configuration, an instruction file, a file that `show` prints',
    'app/project/project-file.ts',
    'maxTextBytes',
    'bytes',
    '`init` and `doctor` report it and leave it alone; `too_large`',
  ],
  [
    '`.gitattributes` that `doctor` reads',
    'app/health/health.ts',
    'maxAttributes',
    'bytes',
    'reported',
  ],
  [
    'a file that `import` reads',
    'app/exchange/disk-source.ts',
    'maxBytes',
    'bytes',
    'the file is left out and reported',
  ],
  [
    'characters in a line of a file that `import` reads line by line',
    'app/exchange/disk-source.ts',
    'maxLineLength',
    '',
    'the file is left out and reported',
  ],
  [
    'files of a folder that `import` reads',
    'app/exchange/disk-source.ts',
    'maxFiles',
    '',
    '`too_large`',
  ],
];

/** Default of an argument. */
function byDefault(tool: string, argument: string): number {
  const found = toolsets.flatMap(({ tools }) => tools).find(({ name }) => name === tool);
  const schema = found && (z.toJSONSchema(found.input, { io: 'input' }) as JsonValue);
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  const property = properties[argument];
  if (isObject(property) && typeof property.default === 'number') return property.default;
  throw new Error(`${tool} has no default for ${argument}`);
}

const bytesOfLists = constant('toolsets/history/answer.ts', 'listBudget');

/** Default size of each answer, and how it refers to the rest. */
const answers: readonly (readonly [calls: string, holds: number, of: string, rest: string])[] = [
  [
    '`build_context`',
    byDefault('build_context', 'budget'),
    'characters (`budget`)',
    'each list counts what it left out and names the call that returns it',
  ],
  [
    '`activate`, `swap`',
    constant('toolsets/banks/budget.ts', 'contentBudget'),
    'bytes of documents',
    'summaries; `get_whole` says how to get a file or section in full',
  ],
  [
    '`list` of one bank',
    constant('toolsets/banks/list.ts', 'filesBudget'),
    'bytes of names',
    '`total`, `next_skip`',
  ],
  [
    '`find_relevant_paths`',
    constant('toolsets/graph/path-relevance.ts', 'relatedLimit'),
    'paths in addition to those that contain the whole query',
    'the least similar ones are left out',
  ],
  ['`memory_read`', byDefault('memory_read', 'limit'), 'entries (`limit`)', '`total`'],
  ['`memory_search`', byDefault('memory_search', 'limit'), 'entries (`limit`)', '`total`'],
  [
    '`search_memory`, `search_as_of`',
    byDefault('search_memory', 'limit'),
    `hits (\`limit\`), each with a passage of about ${constant('store/search/passage/snippet.ts', 'passageLength')} characters, or ${constant('store/search/passage/snippet.ts', 'sectionPassageLength')} of a section`,
    '`total`, `truncated`',
  ],
  ['`record_history`, `diff_memory`', bytesOfLists, 'bytes (`limit`)', '`total`, `next_skip`'],
  ['`list_branches`', bytesOfLists, 'bytes (`limit`)', '`total`, `truncated`'],
  ['`blame_record`', bytesOfLists, 'bytes (`lines`)', '`total_lines`, `next_line`'],
  [
    '`read_as_of` of a record',
    constant('toolsets/history/as-of.ts', 'maxText'),
    'characters',
    '`characters`, `next_offset`',
  ],
  ['`read_as_of` of a folder', bytesOfLists, 'bytes', '`total`, `truncated`'],
  [
    'a text in `diff_memory`',
    constant('toolsets/history/answer.ts', 'maxDiff'),
    'characters, to the end of a line',
    'the count of the rest',
  ],
];

function amount(value: number, unit: Unit): string {
  if (unit === 'ms') return `${value / 1000} s`;
  if (unit === '' || value < 1024)
    return `${value.toLocaleString('en-GB')}${unit === '' ? '' : ' bytes'}`;
  const mebi = value / 1024 / 1024;
  return mebi >= 1 ? `${mebi} MiB` : `${value / 1024} KiB`;
}

/** The limits of a tool's arguments. */
function bounds(tool: Tool): string[] {
  const found: string[] = [];
  const walk = (schema: JsonValue | undefined, path: string) => {
    if (!isObject(schema)) return;
    const parts = [
      ...(typeof schema.maxLength === 'number'
        ? [`${schema.maxLength.toLocaleString('en-GB')} characters`]
        : []),
      ...(typeof schema.maxItems === 'number'
        ? [`${schema.maxItems.toLocaleString('en-GB')} items`]
        : []),
    ];
    if (parts.length > 0) found.push(`\`${path}\` ${parts.join(', ')}`);
    walk(schema.items, `${path}[]`);
    if (!isObject(schema.properties)) return;
    for (const [name, inner] of Object.entries(schema.properties)) {
      walk(inner, path === '' ? name : `${path}.${name}`);
    }
  };
  walk(z.toJSONSchema(tool.input, { io: 'input' }) as JsonValue, '');
  return found;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

it('docs/limits.md says what the constants and schemas say', async () => {
  const rows = limits.map(([what, file, name, unit, beyond]) => {
    return [what, amount(constant(file, name), unit), beyond];
  });
  const tools = toolsets.flatMap(({ tools }) =>
    tools.flatMap((tool) => {
      const found = bounds(tool);
      return found.length === 0 ? [] : [[`\`${tool.name}\``, found.join('; ')]];
    }),
  );
  const text = [
    '# Limits',
    '<!-- Generated from the constants and schemas by `npm run generate`; a test compares. -->',
    'A call that exceeds a limit fails with an error of its toolset that names the limit, and changes nothing.',
    'Only regular files are read, and the size is checked before the first byte. A pipe, device or folder with the name of a record is reported as damaged.',
    table(['subject', 'at most', 'beyond it'], rows),
    '## Answers',
    'These answers are cut at the end of an item, and say what is missing and how to get it:',
    table(
      ['answer', 'holds', 'the rest'],
      answers.map(([calls, holds, of, rest]) => [
        calls,
        `${holds.toLocaleString('en-GB')} ${of}`,
        rest,
      ]),
    ),
    'Every other answer is complete, because the [original designs](compatibility.md) require it: files, documents, records, and lists of them. [Benchmarks](benchmarks.md#tokens) has their sizes in a large memory.',
    '## Arguments',
    'A call that exceeds one of these fails with `invalid_input`.',
    table(['tool', 'arguments'], tools),
    '',
  ].join('\n\n');
  await expect(text).toMatchFileSnapshot(resolve(top, 'docs/limits.md'));
});
