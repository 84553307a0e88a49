import { existsSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { writeExport } from '../../app/exchange/export-files.ts';
import {
  exportedCautions,
  exportMemory,
  exportNames,
  siteFormat,
} from '../../app/exchange/exporter.ts';
import { pathAround } from '../../app/project/project-file.ts';
import type { CallOptions } from '../../app/session/call-context.ts';
import { findRoot } from '../../app/session/root.ts';
import { counted } from '../../core/answers/painter.ts';
import { cautionsJson } from '../../core/memory/answer-fields.ts';
import type { Session } from '../../core/memory/session.ts';
import { MemoryError } from '../../core/values/error.ts';
import { type Command, flagTexts, type Invocation } from '../line/command.ts';
import { asJson, outputFlag, showResult } from '../line/result.ts';
import { inSession } from '../line/run-in-session.ts';
import { pageFolder } from '../process/page-folder.ts';
import { Screen } from '../screen/terminal.ts';

/** `memory-bank export <format> [folder]`: writes the memory in another format, or as a report. */
export const exportCommand: Command = {
  about:
    'write the memory in another format; that of another program, one markdown report, or the pages of view (site); without a folder, a single file goes to stdout, and with the name of a file into that',
  operands: ['format?', 'folder?'],
  flags: {
    force: { about: 'replace existing files' },
    branch: {
      value: 'name',
      many: true,
      about: 'site: also how this branch differs; without it, only the current branch is copied',
    },
    ...outputFlag,
  },
  async run(invocation) {
    const { app, options, operands, values } = invocation;
    const [name, target] = operands;
    if (name === undefined) throw await noFormat(invocation);
    if (target === '') throw new MemoryError('invalid_input', 'The folder must not be empty.');
    if (name !== siteFormat && flagTexts(values, 'branch').length > 0) {
      throw new MemoryError('invalid_input', `${name} has no branches.`, {
        hint: `--branch is for ${siteFormat} only.`,
      });
    }
    // One page is a file of its own.
    const isPage = name === siteFormat && target !== undefined && /\.html$/i.test(target);
    const { files: all, cautions } = await inSession(invocation, async (session, call) => ({
      files:
        name === siteFormat
          ? await site(invocation, session, isPage ? basename(target) : undefined, call)
          : await exportMemory(app, session, name, call),
      cautions: await exportedCautions(app, session, call),
    }));
    const caution = cautions.size > 0 && { caution: cautionsJson(cautions) };
    const warn = () => {
      if (cautions.size === 0) return;
      const records = counted(cautions.size, 'record');
      process.stderr.write(`memory-bank: ${records} to check: run "memory-bank check"\n`);
    };
    const { files, folder: given } = placed(all, target);
    const [only, ...others] = files.values();
    if (given === undefined) {
      if (only === undefined || others.length > 0) {
        throw new MemoryError('invalid_input', `${name} is ${files.size} files.`, {
          hint: `Give a folder for it: memory-bank export ${name} <folder>.`,
        });
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
        `In ${folder} there is ${present.slice(0, 5).join(', ')} already.`,
        {
          hint: 'Nothing was written. Give another folder, or --force to replace the files.',
        },
      );
    }
    const { path: root } = await findRoot({ ...options.place, clientRoots: async () => [] });
    const targets = [...files].map(([file, content]) => {
      return { path: pathAround(folder, root, join(folder, file)), content };
    });
    for (const { path, content } of targets) await writeExport(path, content);
    const written = [...files.keys()].map((file) => join(given, file));
    await showResult(values, { format: name, files: written, ...caution }, (screen) =>
      written.map((file) => screen.plain(file)),
    );
    if (!asJson(values)) warn();
    return 0;
  },
};

/** Returns the pages for people as files: several, or the one with the given name. */
async function site(
  { app, operands, values }: Invocation,
  session: Session,
  single: string | undefined,
  call: CallOptions,
): Promise<ReadonlyMap<string, string>> {
  if (operands[1] === undefined) {
    throw new MemoryError('invalid_input', 'A site needs a place.', {
      hint: 'Give a folder, or the name of one file that ends in .html.',
    });
  }
  const { siteFiles } = await import('../../server/view/site.ts');
  const branches = flagTexts(values, 'branch');
  return siteFiles(app, session, { folder: pageFolder(), single, branches }, call);
}

/** A target with the ending of the only file is the name of that file instead of a folder. */
function placed<T>(files: ReadonlyMap<string, T>, target: string | undefined) {
  const [[name, content] = [], ...others] = files;
  const ending = name === undefined ? '' : extname(name);
  if (target === undefined || content === undefined || others.length > 0 || ending === '') {
    return { files, folder: target };
  }
  if (extname(target).toLowerCase() !== ending) return { files, folder: target };
  return { files: new Map([[basename(target), content]]), folder: dirname(target) };
}

/** The error for a command line without a format, with all of them. */
async function noFormat({ app }: Invocation): Promise<MemoryError> {
  const formats = [...(await exportNames(app))].map(([name, about]) => `${name} (${about})`);
  return new MemoryError('invalid_input', '"export" needs a format.', {
    hint: `The formats are: ${formats.join(', ')}.`,
  });
}
