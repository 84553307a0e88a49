import { readMemoryFile } from '../../app/project/project-file.ts';
import { readSection } from '../../core/markdown/section-argument.ts';
import { cautionField } from '../../core/memory/answer-fields.ts';
import { foreignNote, parseForeign } from '../../core/memory/pinned-memories.ts';
import { pastedPath } from '../../core/names/pasted-path.ts';
import { parseAddress } from '../../core/names/record-address.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { JsonValue } from '../../core/values/json.ts';
import { type Command, flagText } from '../line/command.ts';
import { wordingFor } from '../line/error-wording.ts';
import { type FoundRecord, findRecord, pastOf, withPathOf } from '../line/record-lookup.ts';
import { asJson, outputFlag, showResult } from '../line/result.ts';
import { inReadingSession } from '../line/run-in-session.ts';
import { highlighted } from '../screen/highlight.ts';
import { printable, Screen } from '../screen/terminal.ts';

/** `memory-bank show <path>`: prints the file of one record, or one section of it. */
export const show: Command = {
  about: 'show one record: by its path below .memory-bank/, its key or its title',
  operands: ['path'],
  flags: {
    'as-of': {
      value: 'revision',
      about: 'the record as a commit, branch or date has it',
    },
    section: { value: 'section', about: 'only this section, as a search names it' },
    ...outputFlag,
  },
  async run(invocation) {
    const { app, operands, values } = invocation;
    const [given = ''] = operands;
    const revision = flagText(values, 'as-of');
    const types = (await app.toolsets()).flatMap(({ records }) => records);
    const { found, bytes, caution } = await inReadingSession(invocation, (session, call) =>
      app.run(session, 'show', call, async ({ store, project, history, memories }) => {
        if (parseForeign(given)) {
          const found = await memories.read(given, revision);
          const caution = [foreignNote, ...found.caution];
          return { found: { ...found }, bytes: Buffer.from(found.text), caution };
        }
        if (revision !== undefined) {
          const state = await history.at(revision);
          const read = async (named: string) => {
            const { path, ...part } = parseAddress(pastedPath(named));
            return { ...(await state.read(path)), ...part };
          };
          const past = await withPathOf(store, types, given, read, () => pastOf(history, revision));
          const found: FoundRecord = { ...past, key: past.key, value: past.value };
          return { found, bytes: Buffer.from(past.text), caution: undefined };
        }
        const found = await findRecord(store, types, given);
        await store.used([found.path]);
        const { folder, root } = await project.site();
        const bytes = readMemoryFile(root, folder, found.path);
        if (bytes === undefined) throw new MemoryError('not_found', `${found.path} is gone.`);
        return { found, bytes, caution: (await store.cautions([found.path])).get(found.path) };
      }),
    );
    const { section, path } = found;
    const text = bytes.toString('utf8');
    const wanted = flagText(values, 'section');
    const name = wanted ?? section;
    const part = name === undefined ? undefined : readSection(text, name).trimEnd();
    if (asJson(values)) {
      await showResult(
        values,
        {
          ...recordJson(found, part ?? text, name),
          ...cautionField(caution),
        },
        () => [],
      );
      return 0;
    }
    if (found.error) {
      const word = await wordingFor();
      process.stderr.write(`memory-bank: note: ${printable(word(found.error.text))}\n`);
    }
    for (const reason of caution ?? []) process.stderr.write(`memory-bank: ${printable(reason)}\n`);
    const screen = new Screen();
    if (screen.terminal) await screen.show(highlighted(screen, path, part ?? text));
    else if (part === undefined) process.stdout.write(bytes);
    else await screen.showExactly(`${part}\n`);
    return 0;
  },
};

function recordJson(
  { type, path, key, value }: FoundRecord,
  text: string,
  section: string | undefined,
) {
  return {
    path,
    toolset: type.toolset,
    record: type.name,
    key: key ?? null,
    ...(section !== undefined && { section }),
    ...(value &&
      section === undefined && { value: JSON.parse(JSON.stringify(value)) as JsonValue }),
    text,
  };
}
