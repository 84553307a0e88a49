import { join } from 'node:path';
import { readProjectFile } from '../../app/project-file.ts';
import { MemoryError } from '../../core/error.ts';
import { pastedPath } from '../../core/names/pasted-path.ts';
import { type Command, flagText } from '../command.ts';
import { inSession } from '../run-in-session.ts';
import { Screen } from '../terminal.ts';

/** `memory-bank show <path>`: prints the file of one record. */
export const show: Command = {
  about: 'show one record: by its path below .memory-bank/, its key or its title',
  operands: ['path'],
  flags: {
    'as-of': {
      value: 'revision',
      about: 'the record as a commit, branch or date has it; by its path only',
    },
  },
  async run(invocation) {
    const { app, operands, values } = invocation;
    const [given = ''] = operands;
    const wanted = pastedPath(given);
    const revision = flagText(values, 'as-of');
    if (revision !== undefined) {
      const { text } = await inSession(invocation, (session, call) =>
        app.run(session, 'show', call, async ({ history }) =>
          (await history.at(revision)).read(wanted),
        ),
      );
      await new Screen().showExactly(text);
      return 0;
    }
    const types = (await app.toolsets()).flatMap(({ records }) => records);
    const { root, file } = await inSession(invocation, (session, call) =>
      app.run(session, 'show', call, async ({ store, project }) => {
        const { folder, root } = await project.info();
        const found: string[] = [];
        for (const type of types) {
          const { records, damaged } = await store.list(type);
          const at = [...records, ...damaged].find(({ path }) => path === wanted);
          if (at) return { root, file: join(folder, at.path) };
          for (const { key, path, value } of records) {
            if (key === given || type.search(value).title === given) found.push(path);
          }
        }
        const [only, ...others] = found;
        if (only !== undefined && others.length === 0) return { root, file: join(folder, only) };
        throw only === undefined
          ? new MemoryError('not_found', `There is no record "${given}".`, {
              hint: '"memory-bank search" finds records by words.',
            })
          : new MemoryError('invalid_input', `"${given}" can be ${found.join(' or ')}.`);
      }),
    );
    const bytes = readProjectFile(root, file);
    if (bytes === undefined) throw new MemoryError('not_found', `${file} is gone.`);
    const screen = new Screen();
    // A pipe gets the file byte for byte.
    if (!screen.terminal) process.stdout.write(bytes);
    else await screen.showExactly(bytes.toString('utf8'));
    return 0;
  },
};
