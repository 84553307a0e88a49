import { resolve } from 'node:path';
import { readText } from '../../app/project/project-file.ts';
import { recordText, saveText } from '../../app/project/record-text.ts';
import type { MadeCommit } from '../../core/memory/commit-log.ts';
import { MemoryError } from '../../core/values/error.ts';
import { type Command, flagText } from '../line/command.ts';
import { missingFile, openDraft } from '../line/draft.ts';
import { findRecord } from '../line/record-lookup.ts';
import { asJson, outputFlag, showResult } from '../line/result.ts';
import { inSession } from '../line/run-in-session.ts';

/** `memory-bank edit <record>`: opens a record in the user's editor and commits what it becomes. */
export const edit: Command = {
  about: 'edit one record; opens it in $VISUAL or $EDITOR and commits the change',
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
    const commits: MadeCommit[] = [];
    const path = await inSession(invocation, (session, call) => {
      const onCommit = (commit: MadeCommit) => void commits.push(commit);
      return app.run(session, 'edit', { ...call, onCommit }, async (context) => {
        const found = await findRecord(context.store, types, given);
        const before = await recordText(context, found.path);
        const draft =
          from === undefined ? openDraft(found.path, before, wayBack(found.path)) : undefined;
        const read = draft ? await draft.edit() : readText(resolve(options.place.cwd, from ?? ''));
        if (read === undefined) throw missingFile(from ?? '');
        // Some editors put a byte order mark before what they save.
        const after = before.startsWith('\ufeff') ? read : read.replace(/^\ufeff/, '');
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

/** Says how a text that an editor has left behind is saved. */
function wayBack(record: string) {
  return (file: string) => `"memory-bank edit ${record} --from ${file}" saves it.`;
}
