let loading: Promise<typeof import('isomorphic-git')['default']> | undefined;

/** The package, loaded when something is written for the first time: reading does without it. */
export function isomorphicGit() {
  loading ??= import('isomorphic-git').then((module) => module.default);
  return loading;
}
