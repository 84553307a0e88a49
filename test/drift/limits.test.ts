import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import * as diskSource from '../../src/app/exchange/disk-source.ts';
import * as health from '../../src/app/health/health.ts';
import * as digestWriter from '../../src/app/hook/digest-writer.ts';
import * as modelSummarizer from '../../src/app/model/model-summarizer.ts';
import * as projectFile from '../../src/app/project/project-file.ts';
import * as answerLimit from '../../src/core/answers/answer-limit.ts';
import type { Tool } from '../../src/core/declarations/tool.ts';
import * as fileName from '../../src/core/names/file-name.ts';
import * as recordName from '../../src/core/names/name.ts';
import { isObject, type JsonValue } from '../../src/core/values/json.ts';
import * as foreign from '../../src/core/yaml/foreign.ts';
import * as reader from '../../src/core/yaml/reader.ts';
import * as yaml from '../../src/core/yaml/yaml.ts';
import * as fileLayer from '../../src/git/disk/file-layer.ts';
import * as pack from '../../src/git/objects/pack.ts';
import * as programRemote from '../../src/git/remote/program-remote.ts';
import * as quarantine from '../../src/git/remote/quarantine.ts';
import * as config from '../../src/git/repository/config.ts';
import * as discover from '../../src/git/repository/discover.ts';
import * as ignore from '../../src/git/repository/ignore.ts';
import * as signIn from '../../src/server/http/auth/sign-in.ts';
import * as http from '../../src/server/http/http.ts';
import * as backlog from '../../src/server/http/server/backlog.ts';
import * as endpoint from '../../src/server/http/server/endpoint.ts';
import * as httpLimits from '../../src/server/http/server/limits.ts';
import * as mcpSessions from '../../src/server/http/sessions/mcp-sessions.ts';
import * as lineTransport from '../../src/server/mcp/line-transport.ts';
import * as sessionHandles from '../../src/server/mcp/session-handles.ts';
import * as stdio from '../../src/server/mcp/stdio.ts';
import * as subscriptions from '../../src/server/mcp/subscriptions.ts';
import * as derivedCleaning from '../../src/store/derived/derived-cleaning.ts';
import * as lastChange from '../../src/store/history/last-change.ts';
import * as revision from '../../src/store/history/revision.ts';
import * as unpushedCommits from '../../src/store/history/unpushed-commits.ts';
import * as access from '../../src/store/modes/access.ts';
import * as commandPattern from '../../src/store/modes/command-pattern.ts';
import * as modeLibrary from '../../src/store/modes/mode-library.ts';
import * as boundedListing from '../../src/store/records/bounded-listing.ts';
import * as folderScan from '../../src/store/records/folder-scan.ts';
import * as message from '../../src/store/records/message.ts';
import * as recordFile from '../../src/store/records/record-file.ts';
import * as savedLayout from '../../src/store/records/saved-layout.ts';
import * as transaction from '../../src/store/records/transaction.ts';
import * as indexedRecords from '../../src/store/search/indexed-records.ts';
import * as hitParts from '../../src/store/search/passage/hit-parts.ts';
import * as rejected from '../../src/store/search/passage/rejected-text.ts';
import * as snippet from '../../src/store/search/passage/snippet.ts';
import * as recordSearch from '../../src/store/search/record-search.ts';
import * as savedState from '../../src/store/search/saved-state.ts';
import * as sizeCheck from '../../src/store/sync/size-check.ts';
import * as synchronize from '../../src/store/sync/synchronize.ts';
import * as budget from '../../src/toolsets/banks/budget.ts';
import * as cache from '../../src/toolsets/banks/cache.ts';
import * as list from '../../src/toolsets/banks/list.ts';
import * as pathRelevance from '../../src/toolsets/graph/path-relevance.ts';
import * as answer from '../../src/toolsets/history/answer.ts';
import * as asOf from '../../src/toolsets/history/as-of.ts';
import * as restoreMemory from '../../src/toolsets/history/restore-memory.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import * as entry from '../../src/toolsets/knowledge/entry.ts';
import * as memoryFile from '../../src/toolsets/memory-bank/memory-file.ts';
import { amount, type Unit } from '../support/amount.ts';
import { table } from '../support/page.ts';

/** Each limit: its subject, its value, and what happens beyond it. */
const limits: readonly (readonly [what: string, most: number, unit: Unit, beyond: string])[] = [
  [
    'a message over stdio',
    stdio.maxMessageBytes,
    'bytes',
    'JSON-RPC error -32600; the next message is read',
  ],
  ['messages in a JSON-RPC batch', lineTransport.maxBatch, '', 'JSON-RPC error -32600'],
  ['the body of an HTTP request', httpLimits.maxBodyBytes, 'bytes', 'status 413'],
  [
    'sign-ins by an issuer that have begun',
    signIn.maxAttempts,
    '',
    'the oldest one has to begin again',
  ],
  ['sessions of the REST API', endpoint.maxSessions, '', 'the longest idle one is forgotten'],
  [
    'MCP sessions over HTTP',
    mcpSessions.maxOpen,
    '',
    'the longest idle one is closed; status 503 if none is idle',
  ],
  [
    'MCP sessions of one caller',
    mcpSessions.maxShare,
    '',
    'its longest idle one is closed; status 429 if none is idle',
  ],
  [
    'session handles over HTTP',
    sessionHandles.maxKept,
    '',
    'the one that was not used for longest is forgotten',
  ],
  ['session handles of one caller', sessionHandles.maxOfCaller, '', 'the same, of this caller'],
  ['MCP subscriptions of one caller', subscriptions.maxSubscriptions, '', 'JSON-RPC error -32603'],
  [
    'resources of one MCP subscription',
    subscriptions.maxSubscribed,
    '',
    'the acknowledgment names those within the limit',
  ],
  [
    'connections over HTTP',
    http.maxConnections,
    '',
    'an idle one of the address with the most is closed; if none is idle, the new one',
  ],
  ['waiting requests of one connection', backlog.maxPipelined, '', 'the connection is closed'],
  [
    'unread answers over HTTP',
    backlog.maxWaitingBytes,
    'bytes',
    'status 503, or an error of the MCP tool, before a read begins',
  ],
  [
    'unread answers of one connection',
    backlog.maxStreamBytes,
    'bytes',
    'the same for each call of it; a stream of notifications is closed',
  ],
  [
    'unread answers over HTTP, for changes',
    backlog.maxWaitingForChanges,
    'bytes',
    'the same before a change begins',
  ],
  [
    'a record that a tool writes',
    transaction.maxRecordBytes,
    'bytes',
    '`too_large`; nothing is written',
  ],
  [
    'a file of the memory-bank toolset',
    memoryFile.maxFileBytes,
    'bytes',
    '`too_large`; nothing is written',
  ],
  [
    'a file of the memory that is read',
    recordFile.maxFileBytes,
    'bytes',
    'the file is reported as damaged; everything else is served',
  ],
  [
    'folders above a record',
    folderScan.maxDepth,
    '',
    '`too_large`; deeper files made by hand are ignored',
  ],
  [
    'YAML, or front matter, of one record',
    yaml.maxYamlBytes,
    'bytes',
    '`too_large` when written, `damaged` when read',
  ],
  ['levels of YAML', reader.maxYamlDepth, '', '`too_large` when written, `damaged` when read'],
  [
    'brackets, aliases and other marks in YAML written by hand',
    foreign.maxYamlMarks,
    '',
    '`damaged`',
  ],
  ['levels of metadata', entry.maxDepth, '', '`invalid_input`'],
  [
    'one segment of a file name that a caller chooses',
    fileName.maxSegmentBytes,
    'bytes',
    '`invalid_input`',
  ],
  ['folders in such a name', fileName.maxFolders, '', '`invalid_input`'],
  [
    'a file name made from a key',
    recordName.maxNameBytes,
    'bytes',
    'it is cut, and gets a hash if the name exists',
  ],
  ['a rule file', modeLibrary.maxBytes, 'bytes', 'the file is skipped and reported'],
  [
    'patterns in one list of a rule file, braces expanded',
    access.maxPatterns,
    '',
    'the rule file is skipped and reported',
  ],
  ['characters of a pattern', access.maxLength, '', 'the rule file is skipped and reported'],
  [
    '"[" in a pattern',
    access.maxClasses,
    '',
    'the rule file is skipped and reported; `invalid_input` in a search',
  ],
  [
    'characters of a command pattern (`trigger`)',
    commandPattern.maxLength,
    '',
    'the trigger counts as plain text',
  ],
  ['hits of a search', recordSearch.maxLimit, '', '`invalid_input`'],
  [
    'the index that is saved for the next process',
    savedLayout.maxSavedBytes,
    'bytes',
    'it is not saved; the next process reads all records',
  ],
  [
    'its size in percent of the record files',
    savedState.maxPercent,
    '',
    'it is saved without the values of the records, or not at all',
  ],
  [
    'all indexes that are saved for commits and pinned memories',
    derivedCleaning.maxTreeBytes,
    'bytes',
    'those that were used longest ago are removed',
  ],
  [
    'files of a memory that has a digest for hooks',
    digestWriter.maxFiles,
    '',
    'hooks start the whole program',
  ],
  [
    'all files of a memory that has a digest for hooks',
    digestWriter.maxMemory,
    'bytes',
    'the same',
  ],
  [
    'a file in the search index',
    indexedRecords.maxIndexedBytes,
    'bytes',
    'the file is searched only literally (`fuzzy: false`); the answer and `doctor` name it',
  ],
  [
    'all files in the search index',
    indexedRecords.maxTotalBytes,
    'bytes',
    'the same for the largest of them',
  ],
  [
    'different words in the search index',
    indexedRecords.maxWords,
    '',
    'the same for the largest of them',
  ],
  [
    'occurrences of words in the search index',
    indexedRecords.maxTokens,
    '',
    'the same for the largest of them',
  ],
  [
    'files of one type in a list',
    boundedListing.maxListedBytes,
    'bytes',
    'the largest ones are reported as too large; they can be read by name',
  ],
  [
    'files outside the search index that one literal search reads',
    recordSearch.maxReadBytes,
    'bytes',
    'the answer names the others; `path` or `type` narrows the search',
  ],
  ['the subject of a commit, characters', message.maxSubject, '', 'cut, with "…"'],
  ['the reason in a commit, characters', message.maxReason, '', 'cut, with "…"'],
  ['a trailer of a commit, characters', message.maxTrailer, '', 'cut, with "…"'],
  ['records named in a commit', message.maxRecords, '', 'the rest is only counted'],
  [
    'commits that `memory-bank squash` combines',
    unpushedCommits.maxCommits,
    '',
    'older ones are left alone',
  ],
  ['characters of a revision', revision.maxLength, '', '`invalid_input`'],
  [
    'paths in an answer of `restore_memory`',
    restoreMemory.maxPaths,
    '',
    'the rest is only counted',
  ],
  [
    'an answer of a tool, a resource or a prompt over MCP, characters',
    answerLimit.maxAnswer,
    '',
    'the end of its longest lists is left out, then its longest texts are cut at the end of a line, then its other lists and objects are shortened; the answer says how to ask for the rest, and no tool accepts a text that contains that line',
  ],
  [
    'the list in an answer of a history tool, bytes',
    answer.listBudget,
    '',
    'the answer says how to ask for the rest',
  ],
  ['a text in that list, characters', answer.maxText, '', 'cut, with "…"'],
  ['a difference or value in that list, characters', answer.maxDiff, '', 'cut, with "…"'],
  [
    'a text that a model summarises',
    cache.maxModelText,
    'bytes',
    'the model gets a built-in summary of that size',
  ],
  [
    'texts that wait for a summary by a model',
    modelSummarizer.maxWaiting,
    '',
    'the others are requested when they are needed again',
  ],
  [
    'commits that the search for the last change of a bank reads',
    lastChange.maxWalk,
    '',
    'the last change counts as unknown',
  ],
  ['a git object', pack.maxObjectSize, 'bytes', '`damaged`'],
  ['packed objects in one fetch of sync', quarantine.maxFetched, 'bytes', '`too_large`'],
  ['files that one sync writes', sizeCheck.maxBrought, 'bytes', '`too_large`, with the path'],
  [
    'one version of a record in a merge',
    recordFile.maxFileBytes,
    'bytes',
    '`too_large` in `sync_memory`; `resolve_conflicts` leaves it in conflict',
  ],
  ['one git process in sync', programRemote.defaultTimeout, 'ms', '`remote`; git is stopped'],
  ['lost races for a branch in sync', synchronize.maxAttempts, '', '`busy`'],
  ['nested includes in the git configuration', config.maxIncludeDepth, '', 'not followed'],
  ['files of the git configuration', config.maxFiles, '', 'not read'],
  ['a file of the git configuration', config.maxConfigSize, 'bytes', 'not read'],
  ['a file of ignore rules', ignore.maxBytes, 'bytes', '`too_large`; nothing is written'],
  ['a file `.git` that names a git directory', discover.maxPointer, 'bytes', 'not read'],
  ['any other file of git', fileLayer.maxFileSize, 'bytes', '`storage`'],
  [
    'a client configuration, an instruction file, a file that `show` prints',
    projectFile.maxTextBytes,
    'bytes',
    '`init` and `doctor` report it and leave it alone; `too_large`',
  ],
  ['`.gitattributes` that `doctor` reads', health.maxAttributes, 'bytes', 'reported'],
  ['a file that `import` reads', diskSource.maxBytes, 'bytes', 'the file is left out and reported'],
  [
    'characters in a line of a file that `import` reads line by line',
    diskSource.maxLineLength,
    '',
    'the file is left out and reported',
  ],
  ['files of a folder that `import` reads', diskSource.maxFiles, '', '`too_large`'],
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

const bytesOfLists = answer.listBudget;

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
    budget.contentBudget,
    'bytes of documents',
    'summaries; `get_whole` says how to get a file or section in full',
  ],
  ['`list` of one bank', list.filesBudget, 'bytes of names', '`total`, `next_skip`'],
  [
    '`find_relevant_paths`',
    pathRelevance.relatedLimit,
    'paths in addition to those that contain the whole query',
    'the least similar ones are left out',
  ],
  ['`memory_read`', byDefault('memory_read', 'limit'), 'entries (`limit`)', '`total`'],
  ['`memory_search`', byDefault('memory_search', 'limit'), 'entries (`limit`)', '`total`'],
  [
    '`search_memory`, `search_as_of`',
    byDefault('search_memory', 'limit'),
    `hits (\`limit\`), each with about ${snippet.passageLength} characters of its answer, or ${snippet.sectionPassageLength} of a section (a decision as a whole up to ${hitParts.statedShare} times that), ${hitParts.reasonLength} of its reason (${hitParts.whyLength} for a question why) and ${rejected.rejectedLength} of what was rejected`,
    '`total`, `truncated`',
  ],
  ['`record_history`, `diff_memory`', bytesOfLists, 'bytes (`limit`)', '`total`, `next_skip`'],
  ['`list_branches`', bytesOfLists, 'bytes (`limit`)', '`total`, `truncated`'],
  ['`blame_record`', bytesOfLists, 'bytes (`lines`)', '`total_lines`, `next_line`'],
  ['`read_as_of` of a record', asOf.maxText, 'characters', '`characters`, `next_offset`'],
  ['`read_as_of` of a folder', bytesOfLists, 'bytes', '`total`, `truncated`'],
  [
    'a text in `diff_memory`',
    answer.maxDiff,
    'characters, to the end of a line',
    'the count of the rest',
  ],
];

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

it('docs/limits.md says what the constants and schemas say', async () => {
  const rows = limits.map(([what, most, unit, beyond]) => [what, amount(most, unit), beyond]);
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
    'Every other answer is complete, because the [original designs](compatibility.md) require it: files, documents, records, and lists of them. Over MCP it also fits the limit of an answer. [Benchmarks](benchmarks.md#the-longest-answers) has their sizes in a large memory.',
    '## Arguments',
    'A call that exceeds one of these fails with `invalid_input`.',
    table(['tool', 'arguments'], tools),
    '',
  ].join('\n\n');
  await expect(text).toMatchFileSnapshot(resolve(import.meta.dirname, '../../docs/limits.md'));
});
