import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { JsonObject } from '../../src/core/values/json.ts';
import { program, type Start } from './server.ts';

type Call = readonly [tool: string, args: JsonObject];

/** A note, which every program stores. */
export interface Note {
  readonly number: number;
  /** A word that only this note contains. */
  readonly name: string;
  readonly text: string;
}

/** A program that stores notes for agents, and its calls for the measured work. */
export interface Peer {
  /** Package name and version; undefined for this program. */
  readonly npm?: string;
  readonly name: string;
  /** State of the disk when a note is acknowledged. */
  readonly keeps: string;
  /** @param installed the folder of the installed package. */
  start(folder: string, installed: string): Start;
  /** Prepares a folder before the first start. */
  prepare?(folder: string, installed: string): Promise<void> | void;
  /** Call that is needed once in a folder. */
  begin?(folder: string): Call;
  add(note: Note): Call;
  read(note: Note): Call;
  /** Undefined if it has no search. */
  search?(word: string): Call;
  /** Concurrent write of several agents, to one shared log if there is one. */
  race(note: Note): Call;
}

function own(name: string, durability: 'full' | 'relaxed', keeps: string): Peer {
  return {
    name,
    keeps,
    start: (folder) => ({
      command: process.execPath,
      args: [program, '--root', folder],
      folder,
      env: { MEMORY_BANK_DURABILITY: durability },
    }),
    add: ({ name, text }) => [
      'memory_write',
      { category: 'project-learnings', key: name, value: text },
    ],
    read: ({ name }) => ['memory_read', { category: 'project-learnings', key: name }],
    search: (query) => ['memory_search', { query }],
    race: decide,
  };
}

function decide({ name, text }: Note): Call {
  return ['log_decision', { title: name, context: text, decision: text }];
}

/** Command that runs a package's program with this Node.js. */
function node(installed: string, bin: string, folder: string, env = {}, args = ['']): Start {
  const path = join(installed, 'node_modules/.bin', bin);
  return {
    command: process.execPath,
    args: [path, ...args.filter((arg) => arg !== '')],
    folder,
    env: { HOME: folder, ...env },
    quiet: true,
  };
}

function backlog(name: string, commits: boolean, keeps: string): Peer {
  return {
    npm: 'backlog.md@1.52.0',
    name,
    keeps,
    async prepare(folder, installed) {
      const { command, args, env } = node(installed, 'backlog', folder, {}, ['init', 'bench']);
      const options = { cwd: folder, env: { ...process.env, ...env } };
      await promisify(execFile)(command, [...args, '--defaults'], options);
      const config = join(folder, 'backlog/config.yml');
      const text = readFileSync(config, 'utf8').replace(/^auto_commit: .*$/m, '');
      writeFileSync(config, `${text.trimEnd()}\nauto_commit: ${commits}\n`);
    },
    start: (folder, installed) => node(installed, 'backlog', folder, {}, ['mcp', 'start']),
    add: ({ name, text }) => ['task_create', { title: name, description: text }],
    // It assigns the numbers itself.
    read: ({ number }) => ['task_view', { id: `task-${number + 1}` }],
    search: (query) => ['task_search', { query }],
    race: ({ name, text }) => ['task_create', { title: name, description: text }],
  };
}

/** This program and the others. */
export const peers: readonly Peer[] = [
  own('memory-bank', 'full', 'a file and a commit, both durable (fsync)'),
  own('memory-bank, relaxed', 'relaxed', 'a file and a commit'),
  {
    npm: '@modelcontextprotocol/server-memory@2026.8.31',
    name: 'server-memory',
    keeps: 'one JSON Lines file, rewritten whole',
    start: (folder, installed) =>
      node(installed, 'mcp-server-memory', folder, { MEMORY_FILE_PATH: join(folder, 'm.jsonl') }),
    add: entity,
    read: ({ name }) => ['open_nodes', { names: [name] }],
    search: (query) => ['search_nodes', { query }],
    race: entity,
  },
  {
    npm: '@movibe/memory-bank-mcp@0.4.1',
    name: 'movibe memory-bank',
    keeps: 'a markdown file; for the log, one file rewritten whole',
    start: (folder, installed) => node(installed, 'memory-bank-mcp', folder),
    begin: (folder) => ['initialize_memory_bank', { path: folder }],
    add: ({ name, text }) => ['write_memory_bank_file', { filename: `${name}.md`, content: text }],
    read: ({ name }) => ['read_memory_bank_file', { filename: `${name}.md` }],
    race: decide,
  },
  {
    npm: '@allpepper/memory-bank-mcp@0.2.2',
    name: 'allpepper memory-bank',
    keeps: 'a markdown file',
    prepare: (folder) => void mkdirSync(join(folder, 'banks')),
    start: (folder, installed) =>
      node(installed, 'mcp-server-memory-bank', folder, {
        MEMORY_BANK_ROOT: join(folder, 'banks'),
      }),
    add: file,
    read: ({ name }) => ['memory_bank_read', { projectName: 'bench', fileName: `${name}.md` }],
    race: file,
  },
  backlog('backlog.md', false, 'a markdown file'),
  backlog('backlog.md, auto_commit', true, 'a markdown file and a commit by native git'),
  {
    npm: 'mcp-memory-keeper@0.14.1',
    name: 'memory-keeper',
    keeps: 'rows of SQLite, write-ahead log',
    start: (folder, installed) =>
      node(installed, 'mcp-memory-keeper', folder, { DATA_DIR: folder }),
    add: row,
    read: ({ name }) => ['context_get', { key: name }],
    search: (query) => ['context_search', { query }],
    race: row,
  },
];

function entity({ name, text }: Note): Call {
  return ['create_entities', { entities: [{ name, entityType: 'note', observations: [text] }] }];
}

function file({ name, text }: Note): Call {
  return ['memory_bank_write', { projectName: 'bench', fileName: `${name}.md`, content: text }];
}

function row({ name, text }: Note): Call {
  return ['context_save', { key: name, value: text }];
}
