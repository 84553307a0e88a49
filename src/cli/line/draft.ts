import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { readText } from '../../app/project/project-file.ts';
import { shellEnvironment } from '../../app/session/programs.ts';
import { MemoryError } from '../../core/values/error.ts';

const isWindows = process.platform === 'win32';

/**
 * Copies a text to a folder of its own, to be edited.
 *
 * @param path an editor finds the language of the text by its file name.
 * @param wayBack says what to do with the text of an editor that failed.
 */
export function openDraft(path: string, text: string, wayBack: (file: string) => string) {
  const folder = mkdtempSync(join(tmpdir(), 'memory-bank-edit-'));
  const file = join(folder, basename(path));
  writeFileSync(file, text, { mode: 0o600 });
  // On Windows, an editor that has just ended may still use the file.
  const retrying = { maxRetries: 10, retryDelay: 20 };
  const remove = () => rmSync(folder, { recursive: true, force: true, ...retrying });
  /**
   * Returns what the text becomes.
   *
   * @throws MemoryError if the editor fails or removes the file; a text that it changed then stays there.
   */
  const edit = async () => {
    const editor = process.env.VISUAL || process.env.EDITOR || (isWindows ? 'notepad' : 'vi');
    const status = await runEditor(editor, file);
    const edited = readText(file);
    if (status === 0) {
      if (edited === undefined) throw missingFile(file);
      return edited;
    }
    const problem = `"${editor}" ended with status ${status}; nothing was changed.`;
    const notFound = (isWindows ? [1, 9009] : [126, 127]).some((one) => one === status);
    const hint = notFound ? 'Set EDITOR to the command of your editor.' : undefined;
    if (edited === text) {
      remove();
      throw new MemoryError('cancelled', problem, hint === undefined ? {} : { hint });
    }
    throw new MemoryError('cancelled', problem, {
      hint: `Your text is in ${file}: ${wayBack(file)}`,
    });
  };
  return { file, edit, remove };
}

/** The error about a file that was to be read. */
export function missingFile(file: string): MemoryError {
  return new MemoryError('not_found', `${file} does not exist.`);
}

/** Only the user's own environment chooses the editor; a repository cannot make it run a program. */
async function runEditor(editor: string, file: string): Promise<number | null> {
  // A path with blanks is one word if there is such a program.
  const program = existsSync(editor) ? `"${editor}"` : editor;
  const env = shellEnvironment(process.env);
  const child = isWindows
    ? spawn(`${program} "${file}"`, { shell: true, stdio: 'inherit', env })
    : spawn('sh', ['-c', `${editor} "$@"`, editor, file], { stdio: 'inherit' });
  return new Promise<number | null>((done, fail) => {
    child.on('error', fail);
    child.on('close', done);
  });
}
