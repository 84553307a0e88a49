import { resolve } from 'node:path';
import { App, type AppOptions } from '../app/app.ts';
import { doOverlap, findRoot } from '../app/root.ts';
import { MemoryError } from '../core/error.ts';
import { isProjectName, type NamedProject } from '../server/http/projects.ts';

/**
 * Opens the projects that `--project <name>=<folder>` names, each as an app of its own.
 *
 * @throws MemoryError `invalid_input` for a value that cannot be used, `no_project` for its folder.
 */
export async function servedProjects(
  values: readonly string[],
  options: AppOptions,
): Promise<NamedProject[]> {
  const { place } = options;
  if (values.length > 0 && place.flag !== undefined) {
    throw new MemoryError('invalid_input', '--root and --project exclude each other.', {
      hint: 'Give the folder of --root a name by a further --project.',
    });
  }
  const folders = new Map<string, string>();
  for (const value of values) {
    const [, name = '', folder = ''] = /^([^=]*)=(.+)$/s.exec(value) ?? [];
    if (folder === '') throw wrong(value, 'is not <name>=<folder>');
    if (!isProjectName(name)) {
      throw wrong(value, 'has a name that is not of at most 64 characters a-z, 0-9, ".", "_", "-"');
    }
    if (folders.has(name)) throw wrong(value, `repeats the name ${name}`);
    const input = { ...place, flag: resolve(place.cwd, folder), clientRoots: async () => [] };
    const { path } = await findRoot(input).catch((cause: MemoryError) => {
      throw new MemoryError(cause.code, `--project ${name}: ${cause.message}`, { cause });
    });
    for (const [other, known] of folders) {
      // Callers of the outer project could open the inner one by its path.
      if (doOverlap(known, path)) {
        throw wrong(value, `overlaps with the folder ${known} of ${other}`);
      }
    }
    folders.set(name, path);
  }
  return [...folders].map(([name, flag]) => {
    // The banks of the user are data of all projects, so each project has its own.
    const homeFolder = `${options.homeFolder}-${name}`;
    return { name, app: new App({ ...options, homeFolder, place: { ...place, flag } }) };
  });
}

function wrong(value: string, problem: string): MemoryError {
  return new MemoryError('invalid_input', `--project ${value} ${problem}.`);
}
