import type { Context, ProjectInfo } from '../../core/declarations/context.ts';
import { MemoryError } from '../../core/values/error.ts';

/** The facts about a project, also where its settings cannot be used. */
export interface KnownProject extends Omit<ProjectInfo, 'readOnly'> {
  /** Why the settings cannot be used; the id is not known then. */
  readonly problem?: string;
}

/** Returns what is known about the project without its settings, if these cannot be used. */
export async function knownProject({ project }: Pick<Context, 'project'>): Promise<KnownProject> {
  try {
    return await project.info();
  } catch (error) {
    const { isStopped, ...site } = await project.site();
    if (!isStopped || !(error instanceof MemoryError)) throw error;
    return { ...site, projectId: undefined, problem: error.text };
  }
}
