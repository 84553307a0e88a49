import { onTestFinished } from 'vitest';
import { Repo } from '../support/repo.ts';

/** Creates a repository that is removed after the test. */
export function create(...initOptions: string[]): Repo {
  return passing(Repo.create(...initOptions));
}

/** Removes a folder after the test. */
export function passing(repo: Repo): Repo {
  onTestFinished(() => repo.remove());
  return repo;
}
