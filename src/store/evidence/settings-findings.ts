import { memoryFolderName } from '../../core/declarations/workspace.ts';
import type { TextFinding } from '../../core/evidence/verdict.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { ModeLibrary } from '../modes/mode-library.ts';
import { parseRuleFile } from '../modes/rule-file.ts';
import { configPath, readConfig } from '../records/memory-config.ts';
import { lineIn } from './file-findings.ts';
import type { MendCommands } from './mend-commands.ts';
import { textFinding } from './text-findings.ts';

/** Finds settings that cannot be read, which stop all writing. */
export function settingsFindings(
  { history }: HistoryReader,
  mend: MendCommands,
): ReadonlyMap<string, readonly TextFinding[]> {
  try {
    history.memory.settings.values();
    return new Map();
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    const finding = textFinding(
      'settings',
      `Nothing is written until it is mended: ${error.text}`,
      {
        line: lineIn(error.message),
        mend: mend.restore(configPath, readConfig),
      },
    );
    return new Map([[configPath, [finding]]]);
  }
}

/** Finds the rule files of modes that cannot be used, by their paths relative to the memory folder. */
export function ruleFindings(
  { history }: HistoryReader,
  mend: MendCommands,
): ReadonlyMap<string, readonly TextFinding[]> {
  const { files, root, path: folder } = history.memory;
  const { skipped } = new ModeLibrary(files, root, folder).load();
  return new Map(
    skipped.map(({ mode, source, reason }) => {
      const own = `${memoryFolderName}/`;
      const path = source.startsWith(own) ? source.slice(own.length) : `../${source}`;
      const name = source.replace(/^.*(?:\/|\.clinerules-)/s, '');
      const read = (text: string) => parseRuleFile(text, name, source);
      const isSecond = / takes precedence$/.test(reason);
      const earlier = isSecond ? undefined : mend.restore(path, read);
      const other = isSecond || path.startsWith('../') ? mend.remove(path) : mend.edit(path);
      const command = earlier ?? other;
      const message = `It is not used for the mode "${mode}": ${reason}.`;
      return [path, [textFinding('rule', message, { line: lineIn(reason), mend: command })]];
    }),
  );
}
