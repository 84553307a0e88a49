import { join } from 'node:path';
import type { LocalState } from '../../core/memory/store.ts';
import { isObject, type JsonObject, type JsonValue, own } from '../../core/values/json.ts';
import type { Disk } from '../../git/disk/disk.ts';
import { type Stat, sameStat } from '../../git/disk/file-layer.ts';

const maxBytes = 4 * 1024 * 1024;

/**
 * State of this clone that is never committed, in one JSON file of the git directory.
 *
 * It may be lost without harm; a damaged file counts as empty.
 */
export class LocalFile implements LocalState {
  readonly #disk: Disk;
  readonly #folder: () => string | undefined;
  #values: JsonObject = {};
  #stat: Stat | undefined;

  /** @param folder the folder of the file; undefined while there is no repository: nothing is stored. */
  constructor(disk: Disk, folder: () => string | undefined) {
    this.#disk = disk;
    this.#folder = folder;
  }

  async get(key: string): Promise<JsonValue | undefined> {
    this.#load();
    return own(this.#values, key);
  }

  async set(key: string, value: JsonValue): Promise<boolean> {
    const folder = this.#folder();
    if (folder === undefined) return false;
    this.#load();
    const values = { ...this.#values, [key]: value };
    const bytes = Buffer.from(`${JSON.stringify(values)}\n`);
    if (bytes.length > maxBytes) return false;
    const path = join(folder, 'state.json');
    await this.#disk.replace(path, [bytes], 0o600);
    this.#values = values;
    this.#stat = this.#disk.files.lstat(path);
    return true;
  }

  #load(): void {
    const folder = this.#folder();
    const path = folder === undefined ? undefined : join(folder, 'state.json');
    const stat = path === undefined ? undefined : this.#disk.files.lstat(path);
    if (path === undefined || !stat || stat.size > maxBytes) {
      this.#values = {};
      this.#stat = undefined;
      return;
    }
    if (sameStat(stat, this.#stat)) return;
    this.#values = parse(this.#disk.files.read(path)?.toString('utf8') ?? '');
    this.#stat = stat;
  }
}

function parse(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}
