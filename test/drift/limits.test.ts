import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { isObject, type JsonValue } from '../../src/core/json.ts';
import type { Tool } from '../../src/core/tool.ts';
import { toolsets } from '../../src/toolsets/index.ts';

const top = resolve(import.meta.dirname, '../..');

/** What a constant in the source is, as it stands there: a product of numbers. */
function constant(file: string, name: string): number {
  const text = readFileSync(resolve(top, 'src', file), 'utf8');
  const [, product] = new RegExp(`^(?:export )?const ${name} = ([\\d_ *]+);`, 'm').exec(text) ?? [];
  if (product === undefined) throw new Error(`src/${file} has no constant ${name}`);
  return product
    .split('*')
    .reduce((whole, factor) => whole * Number(factor.replaceAll('_', '')), 1);
}

type Unit = 'bytes' | 'ms' | '';

/** What is limited, by which constant, and what happens beyond it. */
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
  ['messages in a JSON-RPC batch', 'server/mcp/mcp.ts', 'maxBatch', '', 'JSON-RPC error -32600'],
  ['the body of an HTTP request', 'server/http/guards.ts', 'maxBodyBytes', 'bytes', 'status 413'],
  [
    'sessions of the REST API',
    'server/http/endpoint.ts',
    'maxSessions',
    '',
    'the one idle longest is forgotten',
  ],
  [
    'MCP sessions over HTTP',
    'server/http/mcp-sessions.ts',
    'maxOpen',
    '',
    'the one idle longest is closed; status 503 where none is idle',
  ],
  [
    'MCP sessions of one caller',
    'server/http/mcp-sessions.ts',
    'maxShare',
    '',
    'its own idle longest is closed; status 429 where none is idle',
  ],
  [
    'connections over HTTP',
    'server/http/http.ts',
    'maxConnections',
    '',
    'the connection is closed',
  ],
  [
    'requests of one connection that wait for an answer',
    'server/http/backlog.ts',
    'maxPipelined',
    '',
    'the connection is closed',
  ],
  [
    'answers over HTTP that wait to be read',
    'server/http/backlog.ts',
    'maxWaitingBytes',
    'bytes',
    'status 503 for an answer of more than 16 KiB',
  ],
  [
    'answers of one MCP request or stream that wait to be read',
    'server/http/backlog.ts',
    'maxStreamBytes',
    'bytes',
    'JSON-RPC error -32603; a stream of notifications is closed',
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
    'a file of the bank that is read',
    'store/records/record-file.ts',
    'maxFileBytes',
    'bytes',
    'the file is named as damaged; everything else is served',
  ],
  [
    'folders above a record',
    'store/records/folder-scan.ts',
    'maxDepth',
    '',
    '`too_large`; what a person puts deeper is not seen',
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
    'brackets, aliases and the like in YAML by hand',
    'core/yaml/foreign.ts',
    'maxYamlMarks',
    '',
    '`damaged`',
  ],
  ['levels of metadata', 'toolsets/knowledge/entry.ts', 'maxDepth', '', '`invalid_input`'],
  [
    'the name of a file that a caller chooses, between two slashes',
    'core/names/file-name.ts',
    'maxSegmentBytes',
    'bytes',
    '`invalid_input`',
  ],
  ['folders in such a name', 'core/names/file-name.ts', 'maxFolders', '', '`invalid_input`'],
  [
    'the name of a file that is made from a key',
    'core/names/name.ts',
    'maxNameBytes',
    'bytes',
    'the end becomes a hash',
  ],
  [
    'a rule file',
    'store/modes/mode-library.ts',
    'maxBytes',
    'bytes',
    'the file is skipped and named',
  ],
  [
    'patterns in one list of a rule file, braces expanded',
    'store/modes/access.ts',
    'maxPatterns',
    '',
    'the rule file is skipped and named',
  ],
  [
    'characters of a pattern',
    'store/modes/access.ts',
    'maxLength',
    '',
    'the rule file is skipped and named',
  ],
  [
    '"[" in a pattern',
    'store/modes/access.ts',
    'maxClasses',
    '',
    'the rule file is skipped and named; `invalid_input` in a search',
  ],
  [
    'characters of a command pattern (`trigger`)',
    'store/modes/command-pattern.ts',
    'maxLength',
    '',
    'the trigger is a plain text',
  ],
  ['hits of a search', 'store/search/record-search.ts', 'maxLimit', '', '`invalid_input`'],
  [
    'a file that is searched by words',
    'store/search/indexed-records.ts',
    'maxIndexedBytes',
    'bytes',
    'a literal search (`fuzzy: false`) reads it; the answer and `doctor` name it',
  ],
  [
    'all files that are searched by words',
    'store/search/indexed-records.ts',
    'maxTotalBytes',
    'bytes',
    'the same for the largest of them',
  ],
  [
    'different words of them',
    'store/search/indexed-records.ts',
    'maxWords',
    '',
    'the same for the largest of them',
  ],
  [
    'words of them, each use counted',
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
    'the largest are named as too large; they can be read by name',
  ],
  [
    'files that one literal search reads because the index lacks them',
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
    'the rest is counted',
  ],
  [
    'commits that `memory-bank squash` makes one',
    'store/history/history-squash.ts',
    'maxCommits',
    '',
    'those before them stay',
  ],
  ['characters of a revision', 'store/history/revision.ts', 'maxLength', '', '`invalid_input`'],
  [
    'paths that an answer of `restore_memory` names',
    'toolsets/history/restore-memory.ts',
    'maxPaths',
    '',
    'the rest is counted',
  ],
  [
    'the list in an answer about the past, bytes',
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
    'a text that a model is to summarise',
    'toolsets/banks/cache.ts',
    'maxModelText',
    'bytes',
    'the model is handed its built-in summary of that size',
  ],
  [
    'texts that wait for a summary of a model',
    'app/extractive-summarizer.ts',
    'maxWaiting',
    '',
    'the others are asked for when they are needed again',
  ],
  [
    'commits that a question about the last change looks at',
    'store/history/last-change.ts',
    'maxWalk',
    '',
    'no answer',
  ],
  ['an object of git', 'git/objects/pack.ts', 'maxObjectSize', 'bytes', '`damaged`'],
  [
    'what sync takes from a remote at once, packed',
    'git/remote/quarantine.ts',
    'maxFetched',
    'bytes',
    '`too_large`',
  ],
  [
    'what sync brings into the work tree at once',
    'store/sync/size-check.ts',
    'maxBrought',
    'bytes',
    '`too_large`, with the path',
  ],
  [
    'a version of a record that is merged',
    'store/records/record-file.ts',
    'maxFileBytes',
    'bytes',
    '`too_large` in `sync_memory`; `resolve_conflicts` leaves it in conflict',
  ],
  [
    'one run of git in sync',
    'git/remote/program-remote.ts',
    'defaultTimeout',
    'ms',
    '`remote`; git is ended',
  ],
  ['races for a branch that sync loses', 'store/sync/synchronize.ts', 'maxAttempts', '', '`busy`'],
  [
    'an include in the git configuration, levels',
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
  ["any other file of git's own", 'git/disk/file-layer.ts', 'maxFileSize', 'bytes', '`storage`'],
  [
    'a configuration of a client, a file for agents, a file that `show` prints',
    'app/project-file.ts',
    'maxTextBytes',
    'bytes',
    '`init` and `doctor` name it and leave it alone; `too_large`',
  ],
  [
    '`.gitattributes` that `doctor` reads',
    'app/health/health.ts',
    'maxAttributes',
    'bytes',
    'named',
  ],
  [
    'a file that `import` reads',
    'app/exchange/disk-source.ts',
    'maxBytes',
    'bytes',
    'the file is left out and named',
  ],
  [
    'files of a folder that `import` reads',
    'app/exchange/disk-source.ts',
    'maxFiles',
    '',
    '`too_large`',
  ],
];

/** What an argument is when a call leaves it out. */
function byDefault(tool: string, argument: string): number {
  const found = toolsets.flatMap(({ tools }) => tools).find(({ name }) => name === tool);
  const schema = found && (z.toJSONSchema(found.input, { io: 'input' }) as JsonValue);
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  const property = properties[argument];
  if (isObject(property) && typeof property.default === 'number') return property.default;
  throw new Error(`${tool} has no default for ${argument}`);
}

const bytesOfLists = constant('toolsets/history/answer.ts', 'listBudget');

/** What an answer holds unless the call asks for another size, and what it says of the rest. */
const answers: readonly (readonly [calls: string, holds: number, of: string, rest: string])[] = [
  [
    '`build_context`',
    byDefault('build_context', 'budget'),
    'characters (`budget`)',
    'each list says how many items it left out, and which call has them',
  ],
  [
    '`activate`, `swap`',
    constant('toolsets/banks/budget.ts', 'contentBudget'),
    'bytes of documents',
    'summarised; `get_whole` says how to get each, or a section of it',
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
    'paths beside those that hold the whole query',
    'the least alike are left out',
  ],
  ['`memory_read`', byDefault('memory_read', 'limit'), 'entries (`limit`)', '`total`'],
  ['`memory_search`', byDefault('memory_search', 'limit'), 'entries (`limit`)', '`total`'],
  [
    '`search_memory`, `search_as_of`',
    byDefault('search_memory', 'limit'),
    `hits (\`limit\`), each with a passage of about ${constant('store/search/snippet.ts', 'length')} characters`,
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
    'how many more there are',
  ],
];

function amount(value: number, unit: Unit): string {
  if (unit === 'ms') return `${value / 1000} s`;
  if (unit === '' || value < 1024)
    return `${value.toLocaleString('en-GB')}${unit === '' ? '' : ' bytes'}`;
  const mebi = value / 1024 / 1024;
  return mebi >= 1 ? `${mebi} MiB` : `${value / 1024} KiB`;
}

/** Each argument of a tool that has a limit of its own. */
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
    'A call beyond a limit fails in the words of its toolset, names the limit, and changes nothing.',
    'Only regular files are read, and the size is checked before the first byte: a pipe, a device or a folder in the place of a file is named as damaged.',
    table(['what', 'at most', 'beyond it'], rows),
    '## Answers',
    'An answer that could grow with the memory is cut at a place where something ends, and says what is left and how to get it:',
    table(
      ['answer', 'holds', 'the rest'],
      answers.map(([calls, holds, of, rest]) => [
        calls,
        `${holds.toLocaleString('en-GB')} ${of}`,
        rest,
      ]),
    ),
    'Every other answer is whole: a file, a document, a record, and the lists of them, because that is what the designs behind these tools say ([docs/compatibility.md](compatibility.md)). How many tokens they come to in a large memory stands in [docs/benchmarks.md](benchmarks.md#tokens).',
    '## Arguments',
    'Beyond these a call fails with `invalid_input`.',
    table(['tool', 'arguments'], tools),
    '',
  ].join('\n\n');
  await expect(text).toMatchFileSnapshot(resolve(top, 'docs/limits.md'));
});
