/** A log that is read as one file and can be stored as several. */
export interface EntryLog {
  readonly path: LogPath;
  /** The folder of the entry files. */
  readonly folder: string;
  /** The files outside of the folder that its text is composed of. */
  readonly files: readonly string[];
}

export type LogPath = 'decisionLog.md' | 'progress.md' | 'activeContext.md';

export const decisions: EntryLog = {
  path: 'decisionLog.md',
  folder: 'decisionLog',
  files: ['decisionLog.md'],
};
export const progress: EntryLog = {
  path: 'progress.md',
  folder: 'progress',
  files: ['progress.md'],
};
export const context: EntryLog = {
  path: 'activeContext.md',
  folder: progress.folder,
  files: ['activeContext.md', progress.path],
};

const logs: readonly EntryLog[] = [decisions, progress, context];

/** The folders of entry files. */
export const entryFolders: readonly string[] = [decisions.folder, progress.folder];

/** The paths of all logs. */
export const logPaths: readonly string[] = logs.map(({ path }) => path);

/** Whether settings choose a file for each entry of a log; every reader of a memory asks this. */
export function hasEntryFiles(settings: string | undefined): boolean {
  const chosen = /^layout[ \t]*:[ \t]*["']?entries["']?[ \t]*(?:#.*)?\r?$/m;
  return settings !== undefined && chosen.test(settings);
}

/** The log at a path, which may be stored in several files. */
export function logAt(path: string): EntryLog | undefined {
  return logs.find((log) => log.path === path);
}

/** The paths of the logs that a file is a part of. */
export function logsOf(path: string): readonly string[] {
  const [folder = ''] = path.split('/', 1);
  return logs
    .filter((log) => log.files.includes(path) || log.folder === folder)
    .map((log) => log.path);
}

/** The log whose rights in a mode an entry file shares; undefined for any other path. */
export function logOfEntry(path: string): string | undefined {
  const [folder = ''] = path.split('/', 1);
  return path === folder ? undefined : logs.find((log) => log.folder === folder)?.path;
}

/** Whether a path is that of an entry file, or of a folder of them. */
export function isEntryPath(path: string): boolean {
  return entryFolders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

/** Entry files below more folders than this are ignored. */
export const maxEntryDepth = 8;

/** Whether the last name of a path is that of an entry file. */
export function isEntryName(name: string): boolean {
  return !name.startsWith('.') && name.endsWith('.md');
}

/** Whether a record can be stored in several files, or is one of those. */
export function isStoredApart(path: string): boolean {
  return logAt(path) !== undefined || isEntryPath(path);
}
