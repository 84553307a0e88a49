import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Folder } from '../../src/git/disk/folder.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import type { EntryFile } from '../../src/store/layout/entry-files.ts';
import {
  composeLog,
  type StoredChange,
  type StoredFiles,
  storedChanges,
} from '../../src/store/layout/entry-logs.ts';
import { FolderFiles } from '../../src/store/layout/layout-folder.ts';
import { logAt, logPaths } from '../../src/store/layout/log-paths.ts';
import { ownFiles, readConfig, writeConfig } from '../../src/store/records/memory-config.ts';

/** Whether new memories store log entries as files, so that suites run in both layouts. */
export const hasEntries = process.env.TEST_LAYOUT === 'entries';

/** The files of a memory without records that stores log entries as files, by their paths in the project. */
export function entrySettings(): [path: string, text: string][] {
  return ownFiles('5f0c4b1e-52b5-4e0e-9d0d-0f6b1f6a9a01').map(([path, complete]) => {
    const text = complete(undefined);
    const isSettings = path === 'config.yaml';
    return [
      `.memory-bank/${path}`,
      isSettings ? writeConfig({ ...readConfig(text), layout: 'entries' }, text) : text,
    ];
  });
}

/** Files of a memory in a map. */
export class MapFiles implements StoredFiles {
  readonly all: Map<string, string>;

  constructor(all: Iterable<readonly [path: string, text: string]> = []) {
    this.all = new Map(all);
  }

  text(path: string): string | undefined {
    return this.all.get(path);
  }

  entries(folder: string): EntryFile[] {
    return [...this.all]
      .filter(([path]) => path.startsWith(`${folder}/`))
      .map(([path, text]) => ({ name: path.slice(folder.length + 1), text }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  apply(changes: readonly StoredChange[]): void {
    for (const { path, after } of changes) {
      if (after === undefined) this.all.delete(path);
      else this.all.set(path, after);
    }
  }

  /** Stores the texts that a person has written, and then those of a change. */
  change(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): void {
    for (const texts of [before, after]) {
      const shown = this.shown();
      const edits = [...new Set([...shown.keys(), ...texts.keys()])].map((path) => {
        return { path, before: shown.get(path), after: texts.get(path) };
      });
      const changed = edits.filter((edit) => edit.before !== edit.after);
      this.apply(storedChanges(changed, this, '01TEST'));
    }
  }

  /** The texts of the records. */
  shown(): Map<string, string> {
    const folders = /^(?:decisionLog|progress)\//;
    const shown = new Map([...this.all].filter(([path]) => !folders.test(path)));
    for (const path of logPaths) {
      const text = composeLog(this, path);
      if (text !== undefined) shown.set(path, text);
    }
    return shown;
  }
}

/** The text of a log of a project that is stored in several files; undefined for any other file. */
export function readLog(root: string, name: string): string | undefined {
  const place = placeOf(root, name);
  return place && composeLog(new FolderFiles(place.folder), place.path);
}

/** Writes the text of such a log into its files, as a person who edits them; returns whether it is one. */
export function writeLog(root: string, name: string, text: string): boolean {
  const place = placeOf(root, name);
  if (!place) return false;
  const files = new FolderFiles(place.folder);
  const edit = { path: place.path, before: composeLog(files, place.path), after: text };
  for (const { path, after } of storedChanges([edit], files, '01TEST')) {
    const file = join(place.folder.root, path);
    if (after === undefined) rmSync(file);
    else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, after);
    }
  }
  return true;
}

function placeOf(root: string, name: string) {
  const [, folder, path = ''] = /^(.*\.memory-bank)\/([^/]+)$/.exec(name) ?? [];
  if (!hasEntries || folder === undefined || !logAt(path)) return undefined;
  return { folder: new Folder(new NodeFiles(), join(root, folder)), path };
}
