import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { shellEnvironment } from '../../app/programs.ts';
import { readText } from '../../app/project-file.ts';
import { recordText, saveText } from '../../app/record-text.ts';
import { MemoryError } from '../../core/error.ts';
import type { CommitMade } from '../../core/history.ts';
import { type Command, flagText } from '../command.ts';
import { findRecord } from '../record-lookup.ts';
import { asJson, outputFlag, showResult } from '../result.ts';
import { inSession } from '../run-in-session.ts';

const isWindows = process.platform === 'win32';

/** `memory-bank edit <record>`: opens a record in the user's editor and commits what it becomes. */
export const edit: Command = {
  about: 'open one record in $VISUAL or $EDITOR and commit the change',
  operands: ['path'],
  flags: {
    reason: { value: 'text', about: 'why, for the commit' },
    from: { value: 'file', about: 'take the new text from this file and open no editor' },
    ...outputFlag,
  },
  async run(invocation) {
    const { app, operands, options, values } = invocation;
    const [given = ''] = operands;
    const types = (await app.toolsets()).flatMap(({ records }) => records);
    const from = flagText(values, 'from');
    const commits: CommitMade[] = [];
    const path = await inSession(invocation, (session, call) => {
      const onCommit = (commit: CommitMade) => void commits.push(commit);
      return app.run(session, 'edit', { ...call, onCommit }, async (context) => {
        const found = await findRecord(context.store, types, given);
        const before = await recordText(context, found.path);
        const draft = from === undefined ? openDraft(found.path, before) : undefined;
        if (draft) await draft.edit(found.path);
        const read = readText(draft?.file ?? resolve(options.place.cwd, from ?? ''));
        // Some editors put a byte order mark before what they save.
        const after = before.startsWith('\ufeff') ? read : read?.replace(/^\ufeff/, '');
        if (after === undefined) {
          throw new MemoryError('not_found', `There is no file ${draft?.file ?? from}.`);
        }
        try {
          if (after !== before) {
            await saveText(context, found, { before, after, reason: flagText(values, 'reason') });
          }
        } catch (error) {
          if (!(error instanceof MemoryError) || !draft) throw error;
          // The text is the user's work: it stays until it is saved.
          throw new MemoryError(error.code, error.message, {
            hint: `${error.hint ?? ''} Your text is in ${draft.file}: correct it and run "memory-bank edit ${found.path} --from ${draft.file}".`.trim(),
            cause: error,
          });
        }
        draft?.remove();
        return found.path;
      });
    });
    const [commit] = commits;
    if (commit || asJson(values)) {
      await showResult(values, { path, commit: commit?.oid ?? null }, (screen) => [
        screen.paint('good', `Changed ${path}, commit ${commit?.oid.slice(0, 12)}.`),
      ]);
    } else process.stderr.write('Nothing was changed.\n');
    return 0;
  },
};

/** A copy of a record's text in a folder of its own, with the name that tells an editor its language. */
function openDraft(path: string, text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'memory-bank-edit-'));
  const file = join(folder, basename(path));
  writeFileSync(file, text, { mode: 0o600 });
  const remove = () => rmSync(folder, { recursive: true, force: true });
  /** @throws MemoryError if the editor fails; a text that it changed then stays in the file. */
  const edit = async (record: string) => {
    const editor = process.env.VISUAL || process.env.EDITOR || (isWindows ? 'notepad' : 'vi');
    const status = await runEditor(editor, file);
    if (status === 0) return;
    const problem = `"${editor}" ended with status ${status}; nothing was changed.`;
    const notFound = (isWindows ? [1, 9009] : [126, 127]).some((one) => one === status);
    const hint = notFound ? 'Set EDITOR to the command of your editor.' : undefined;
    if (readText(file) === text) {
      remove();
      throw new MemoryError('cancelled', problem, hint === undefined ? {} : { hint });
    }
    const wayBack = `Your text is in ${file}: "memory-bank edit ${record} --from ${file}" saves it.`;
    throw new MemoryError('cancelled', problem, { hint: wayBack });
  };
  return { file, edit, remove };
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
