import { onTestFinished } from 'vitest';
import { Repo } from '../support/repo.ts';

/** A repository that goes when the test is over. */
export function create(...initOptions: string[]): Repo {
  return passing(Repo.create(...initOptions));
}

/** Lets a folder go when the test is over. */
export function passing(repo: Repo): Repo {
  onTestFinished(() => repo.remove());
  return repo;
}
