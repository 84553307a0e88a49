import { MemoryError } from '../../core/values/error.ts';
import type { Folder } from '../../git/disk/folder.ts';
import type { TextChange } from '../secrets/guard.ts';
import { earlierId } from './earlier-id.ts';
import { configPath, type MemoryConfig, ownFiles, writeConfig } from './memory-config.ts';
import type { SettingsFile } from './settings-file.ts';

interface OwnFilesParts {
  /** Reads a file of the memory. */
  readonly text: (path: string) => string | undefined;
  /** The root of the project. */
  readonly project: Folder;
  readonly uuid: () => string;
}

/** The files of a memory that are not records: its settings, and what git has to know about it. */
export class OwnFiles {
  readonly #settings: SettingsFile;
  readonly #parts: OwnFilesParts;

  constructor(settings: SettingsFile, parts: OwnFilesParts) {
    this.#settings = settings;
    this.#parts = parts;
  }

  /** The changes that complete them. */
  changes(): TextChange[] {
    const id = this.projectId() ?? this.earlierId() ?? this.#parts.uuid();
    return ownFiles(id).flatMap(([path, complete]) => {
      const before = this.#parts.text(path);
      const after = complete(before);
      return after === before ? [] : [{ path, before, after }];
    });
  }

  /** Lists those that are missing or incomplete. */
  lacking(): readonly string[] {
    return this.changes().map(({ path }) => path);
  }

  /**
   * Changes the settings, and gives them the format that they need.
   *
   * @throws MemoryError `not_found` if there are no settings yet.
   */
  configured(configure = (settings: MemoryConfig) => settings): TextChange[] {
    const [settings, before] = [this.#settings.values(), this.#parts.text(configPath)];
    if (settings === undefined || before === undefined) {
      throw new MemoryError('not_found', `There is no ${configPath} yet.`, {
        hint: 'Run "memory-bank init" first. Nothing was changed.',
      });
    }
    const after = writeConfig(configure(settings), before);
    return after === before ? [] : [{ path: configPath, before, after }];
  }

  /**
   * The project's id in `config.yaml`; undefined before the first write.
   *
   * @throws MemoryError `damaged` if the file does not contain it.
   */
  projectId(): string | undefined {
    return this.#settings.values()?.project_id;
  }

  /**
   * Returns the id that an earlier program has left in the project; see `earlierId`.
   *
   * @throws MemoryError `damaged` if its files cannot be read.
   */
  earlierId(): string | undefined {
    return earlierId(this.#parts.project);
  }
}
