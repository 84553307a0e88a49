import { readFile, writeFile } from 'node:fs/promises';
import { checkDrivenMerge, mergeFile, setMergeDriver } from '../../app/session/merging.ts';
import { findRoot } from '../../app/session/root.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Command } from '../line/command.ts';
import { printable } from '../screen/terminal.ts';
import { ownProgram } from '../setup/program/own-entry.ts';

/** `memory-bank merge-driver`: merges a file that both sides changed, for git (gitattributes, "merge"). */
export const mergeDriver: Command = {
  about: 'merge one file of a memory; git runs it',
  hidden: true,
  operands: ['base', 'ours', 'theirs', 'marker-size', 'path'],
  async run({ operands: [base = '', ours = '', theirs = '', markerSize, path = ''] }) {
    const ancestor = await readFile(base);
    const versions = {
      // Git passes an empty file where there is no common ancestor.
      base: ancestor.length === 0 ? undefined : ancestor,
      ours: await readFile(ours),
      theirs: await readFile(theirs),
    };
    const refusal = await checkDrivenMerge(process.cwd(), path, versions).catch(toText);
    if (refusal !== undefined) {
      // Without markers in our version, the command line then lets git merge the file.
      process.stderr.write(`memory-bank: ${printable(`${path}: ${refusal}`)}\n`);
      return 2;
    }
    const { bytes, conflict, notes } = await mergeFile(path, versions, Number(markerSize) || 7);
    await writeFile(ours, bytes ?? '');
    for (const note of notes)
      process.stderr.write(`memory-bank: ${printable(`${path}: ${note}`)}\n`);
    return conflict ? 1 : 0;
  },
};

function toText(error: unknown): string {
  if (error instanceof MemoryError) return error.message;
  throw error;
}

/** `memory-bank install-merge-driver`: makes git run the merge driver. */
export const installMergeDriver: Command = {
  about: 'let git merge memory by record',
  flags: { uninstall: { about: 'remove the setting' } },
  async run({ options, values }) {
    const uninstall = values.uninstall === true;
    const { path } = await findRoot({ ...options.place, clientRoots: async () => [] });
    const { top, changed } = await setMergeDriver(
      path,
      uninstall ? undefined : ownProgram(),
      options.durability,
    );
    const what = uninstall ? 'by its own means' : 'with memory-bank';
    const already = changed ? '' : ', as before';
    process.stdout.write(`git merges the memory in ${top} ${what}${already}.\n`);
    return 0;
  },
};
