import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { exportedCautions, exportMemory } from '../../app/exchange/exporter.ts';
import { pathAround } from '../../app/project-file.ts';
import { findRoot } from '../../app/root.ts';
import { MemoryError } from '../../core/error.ts';
import { counted } from '../../core/painter.ts';
import { cautionsJson } from '../../core/store.ts';
import type { Command } from '../command.ts';
import { asJson, outputFlag, showResult } from '../result.ts';
import { inSession } from '../run-in-session.ts';
import { Screen } from '../terminal.ts';

/** `memory-bank export <format> [folder]`: writes the memory in another format, or as a report. */
export const exportCommand: Command = {
  about:
    'write the memory in the format of another program, or as one markdown or html report; without a folder, the report goes to stdout',
  operands: ['format', 'folder?'],
  flags: { force: { about: 'replace existing files' }, ...outputFlag },
  async run(invocation) {
    const { app, options, operands, values } = invocation;
    const [name = '', given] = operands;
    const { files, cautions } = await inSession(invocation, async (session, call) => ({
      files: await exportMemory(app, session, name, call),
      cautions: await exportedCautions(app, session, call),
    }));
    const caution = cautions.size > 0 && { caution: cautionsJson(cautions) };
    const warn = () => {
      if (cautions.size === 0) return;
      const records = counted(cautions.size, 'record');
      process.stderr.write(`memory-bank: ${records} to check: run "memory-bank check"\n`);
    };
    const [only, ...others] = files.values();
    if (given === undefined) {
      if (typeof only !== 'string' || others.length > 0) {
        throw new MemoryError('invalid_input', `${name} is ${files.size} files: give a folder.`);
      }
      if (asJson(values)) {
        await showResult(values, { format: name, content: only, ...caution }, () => []);
      } else {
        await new Screen().showExactly(only);
        warn();
      }
      return 0;
    }
    const folder = resolve(options.place.cwd, given);
    const present = [...files.keys()].filter((file) => existsSync(join(folder, file)));
    if (present.length > 0 && values.force !== true) {
      throw new MemoryError(
        'already_exists',
        `There is ${present.slice(0, 5).join(', ')} already.`,
        {
          hint: 'Give another folder, or --force to replace files.',
        },
      );
    }
    const { path: root } = await findRoot({ ...options.place, clientRoots: async () => [] });
    const targets = [...files].map(([file, content]) => {
      return { path: pathAround(folder, root, join(folder, file)), content };
    });
    for (const { path, content } of targets) await write(path, content);
    const written = [...files.keys()].map((file) => join(given, file));
    await showResult(values, { format: name, files: written, ...caution }, (screen) =>
      written.map((file) => screen.plain(file)),
    );
    if (!asJson(values)) warn();
    return 0;
  },
};

async function write(path: string, content: string | Uint8Array): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  } catch (cause) {
    throw new MemoryError('storage', `${path} cannot be written.`, { cause });
  }
}
