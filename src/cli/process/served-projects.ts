import { App, type AppOptions } from '../../app/app.ts';
import { doOverlap, findRoot } from '../../app/session/root.ts';
import { MemoryError } from '../../core/values/error.ts';
import { type NamedProject, projectName } from '../../server/http/auth/projects.ts';
import type { NamedFolder } from './serve-settings.ts';

/**
 * Opens the projects that the options name, each as an app of its own.
 *
 * @throws MemoryError `invalid_input` for a value that cannot be used, `no_project` for its folder.
 */
export async function servedProjects(
  named: readonly NamedFolder[],
  options: AppOptions,
): Promise<NamedProject[]> {
  const { place } = options;
  if (named.length > 0 && place.flag !== undefined) {
    throw new MemoryError('invalid_input', '--root and --project exclude each other.', {
      hint: 'Give the folder of --root a name by a further --project.',
    });
  }
  const folders = new Map<string, string>();
  for (const { name, folder } of named) {
    if (!projectName.test(name)) {
      throw wrong(name, 'has a name that is not of at most 64 characters a-z, 0-9, ".", "_", "-"');
    }
    if (folders.has(name)) throw wrong(name, `repeats the name ${name}`);
    const input = { ...place, flag: folder, clientRoots: async () => [] };
    const { path } = await findRoot(input).catch((cause: MemoryError) => {
      throw new MemoryError(cause.code, `--project ${name}: ${cause.message}`, { cause });
    });
    for (const [other, known] of folders) {
      // Callers of the outer project could open the inner one by its path.
      if (doOverlap(known, path)) {
        throw wrong(name, `overlaps with the folder ${known} of ${other}`);
      }
    }
    folders.set(name, path);
  }
  return named.map(({ name, limits }) => {
    const flag = folders.get(name);
    // The banks of the user are data of all projects, so each project has its own.
    const homeFolder = `${options.homeFolder}-${name}`;
    const app = new App({ ...options, homeFolder, place: { ...place, flag } });
    return { name, app, ...(limits && { limits }) };
  });
}

function wrong(name: string, problem: string): MemoryError {
  return new MemoryError('invalid_input', `--project ${name} ${problem}.`);
}
