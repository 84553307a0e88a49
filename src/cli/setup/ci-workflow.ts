import { join, relative, sep } from 'node:path';
import { repositoryKind } from '../../app/health/repository-kind.ts';
import { projectPath, readText } from '../../app/project/project-file.ts';
import { MemoryError } from '../../core/values/error.ts';
import { flagText, type Invocation } from '../line/command.ts';
import type { FileEdit } from './plan/file-edit.ts';
import type { Untouched } from './plan/setup-plan.ts';
import { packageName, packageVersion } from './program/own-entry.ts';

/** The code hosts for which a workflow can be written. */
export const ciHosts = ['github', 'gitlab'] as const;

/** The place of the repository and of the memory in it. */
interface CiPlace {
  /** Absolute path of the top of the work tree. */
  readonly top: string;
  /** The folder of the memory, relative to the top, with `/`; `''` for the top. */
  readonly folder: string;
}

/** The files of a host, and sentences about them. */
interface CiPlan {
  readonly edits: FileEdit[];
  readonly untouched: Untouched[];
  readonly notes: string[];
}

const included = '.gitlab/memory-bank.yml';
const gitlabMain = '.gitlab-ci.yml';

const run = 'npx --yes --package="$MEMORY_BANK_PACKAGE" memory-bank';

/** The beginning of a file that `init` has written. */
function mark(host: string): string {
  return `# Written by "memory-bank init --ci ${host}"; "memory-bank init --undo" removes it.\n`;
}

/** The variables of all jobs; a name in quotes is JSON, which YAML contains. */
function variables(folder: string, indent: string): string {
  const root = folder === '' ? [] : [`MEMORY_BANK_ROOT: ${JSON.stringify(folder)}`];
  return [
    '# A version of the package: its name and version in your registry, a URL, or a file that `npm pack` made.',
    `MEMORY_BANK_PACKAGE: ${JSON.stringify(`${packageName}@${packageVersion}`)}`,
    ...root,
  ]
    .map((line) => `${indent}${line}\n`)
    .join('');
}

function github(folder: string): string {
  return `${mark('github')}name: memory
on:
  pull_request:
  push:
permissions:
  contents: read
env:
${variables(folder, '  ')}jobs:
  # Fails if a pull request changes code that a record describes, and annotates the lines.
  check:
    if: github.event_name == 'pull_request'
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
          persist-credentials: false
      - uses: actions/setup-node@v4
        with:
          node-version: 22
      - run: ${run} check --since "origin/$GITHUB_BASE_REF" --format github
  # Merges the base into pull requests that conflict with it in files of the memory only. GitHub starts no
  # workflow for a pull request in conflict, so each push looks at all of them.
  merge:
    if: github.event_name == 'push' && github.ref_type == 'branch'
    runs-on: ubuntu-latest
    permissions:
      contents: write
      pull-requests: read
    concurrency:
      group: memory-merge
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
          # A push by the token of the workflow starts no checks; one by a token of your own does.
          token: \${{ secrets.MEMORY_BANK_TOKEN || github.token }}
      - uses: actions/setup-node@v4
        with:
          node-version: 22
      - env:
          GH_TOKEN: \${{ github.token }}
        run: >-
          gh pr list --limit 1000 --json headRefName,baseRefName,isCrossRepository
          --jq '.[] | "\\(.headRefName) \\(.baseRefName) \\(.isCrossRepository) false"'
          | ${run} merge-pull-requests
`;
}

function gitlab(folder: string): string {
  return `${mark('gitlab')}.memory:
  image: node:22
  variables:
    GIT_DEPTH: "0"
${variables(folder, '    ')}
.memory-request:
  extends: .memory
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"

# Fails if a merge request changes code that a record describes, and lists the findings next to the lines.
memory-check:
  extends: .memory-request
  script:
    - ${run} check --since "$CI_MERGE_REQUEST_DIFF_BASE_SHA" --format gitlab > gl-code-quality-report.json
  artifacts:
    when: always
    reports:
      codequality: gl-code-quality-report.json

# Merges the target into a merge request that conflicts with it in files of the memory only.
memory-merge:
  extends: .memory-request
  resource_group: memory-merge
  script:
    - >-
      printf '%s %s %s %s\\n'
      "$CI_MERGE_REQUEST_SOURCE_BRANCH_NAME" "$CI_MERGE_REQUEST_TARGET_BRANCH_NAME"
      "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID" "$CI_MERGE_REQUEST_PROJECT_ID"
      | ${run} merge-pull-requests

# The same for all open merge requests into a branch, after a push to it. The token of a job may not list them.
memory-merge-all:
  extends: .memory
  resource_group: memory-merge
  rules:
    - if: $CI_PIPELINE_SOURCE == "push" && $CI_COMMIT_BRANCH && $MEMORY_BANK_TOKEN
  script:
    - >-
      curl --fail --silent --show-error --get --header "PRIVATE-TOKEN: $MEMORY_BANK_TOKEN"
      --data state=opened --data per_page=100 --data-urlencode "target_branch=$CI_COMMIT_BRANCH"
      "$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests" > memory-requests.json
    - >-
      node -e 'for (const one of JSON.parse(require("fs").readFileSync("memory-requests.json", "utf8")))
      console.log(one.source_branch, one.target_branch, one.source_project_id, one.target_project_id)'
      | ${run} merge-pull-requests
`;
}

const gitlabInclude = `${mark('gitlab')}include:
  - local: /${included}
`;

const editedSince = 'it was edited since init wrote it';
const githubNotes = [
  'GitHub starts the jobs after the workflow is on the default branch. With a token of your own as the secret MEMORY_BANK_TOKEN (contents: write), the checks of a pull request also run after a merge by the job.',
];
const gitlabNotes = [
  'The merge job pushes with the token of the job: allow that in the settings of the project, CI/CD, "Job token permissions".',
  'A merge request is looked at in its own pipeline. With a token as the variable MEMORY_BANK_TOKEN (scope read_api, masked), all requests into a branch are also looked at after a push to it.',
];
const packageNote = `The jobs start ${packageName}@${packageVersion} from the registry of npm: set MEMORY_BANK_PACKAGE in the file if you keep the package elsewhere.`;

/**
 * Plans the files of a workflow, or their removal. A file of somebody else is never changed, and neither is
 * one that was edited since; only another package may be named in it.
 *
 * @param host undefined removes the files of every host.
 */
export function planCi(host: string | undefined, { top, folder }: CiPlace): CiPlan {
  const plan: CiPlan = { edits: [], untouched: [], notes: [] };
  const files: readonly [host: string, path: string, text: string][] = [
    ['github', '.github/workflows/memory-bank.yml', github(folder)],
    ['gitlab', included, gitlab(folder)],
    ['gitlab', gitlabMain, gitlabInclude],
  ];
  for (const [of, name, text] of files) {
    if (host !== undefined && host !== of) continue;
    try {
      const path = projectPath(top, join(top, name));
      const before = readText(path);
      if (host === undefined) planRemoval(plan, path, before, text);
      else if (before === undefined) plan.edits.push({ path, before, after: text });
      else if (name === gitlabMain) {
        if (!before.includes(included)) {
          plan.notes.push(
            `${path} is yours and is left alone. Add to it: include: [{ local: /${included} }]`,
          );
        }
      } else if (!isOwn(before, text)) {
        const isOurs = before.startsWith(mark(of));
        const reason = isOurs ? editedSince : 'init has not written it';
        const remedy = 'Rename or remove it, and run the command again.';
        plan.untouched.push({ path, reason, remedy });
      }
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code !== 'damaged') throw error;
      const reason = error.message.replace(/\.$/, '');
      plan.untouched.push({ path: join(top, name), reason, isForeign: host === undefined });
    }
  }
  if (host === undefined) plan.notes.push(...includeLeft(plan, top));
  else if (plan.edits.length > 0) {
    plan.notes.push(...(host === 'github' ? githubNotes : gitlabNotes), packageNote);
  }
  return plan;
}

/** Plans the workflow that the command line asks for, at the top of the repository around a project. */
export async function chosenCi(
  { values }: Invocation,
  root: string,
  undo: boolean,
): Promise<CiPlan> {
  const host = flagText(values, 'ci');
  if (host === undefined && !undo) return { edits: [], untouched: [], notes: [] };
  const top = (await repositoryKind(root))?.top ?? root;
  const folder = relative(top, root).split(sep).join('/');
  return planCi(undo ? undefined : host, { top, folder });
}

/** Names an include of a file that goes, which would stop every pipeline. */
function includeLeft({ edits }: CiPlan, top: string): string[] {
  const goes = (name: string) => edits.some(({ path }) => path.endsWith(join('/', name)));
  if (!goes(included) || goes(gitlabMain)) return [];
  const path = join(top, gitlabMain);
  const isIncluded = readText(path)?.includes(included) === true;
  return isIncluded ? [`Remove the include of /${included} from ${path}.`] : [];
}

function planRemoval(
  { edits, untouched }: CiPlan,
  path: string,
  before: string | undefined,
  text: string,
): void {
  if (before === undefined || !before.startsWith('# Written by "memory-bank init --ci ')) return;
  if (isOwn(before, text)) edits.push({ path, before, after: undefined });
  else untouched.push({ path, reason: editedSince, isForeign: true });
}

/** Whether a text is what `init` writes, apart from the package and the root. */
function isOwn(present: string, text: string): boolean {
  const plain = (one: string) =>
    one
      .replaceAll('\r\n', '\n')
      .replace(/^( +MEMORY_BANK_PACKAGE:).*$/m, '$1')
      .replace(/^ +MEMORY_BANK_ROOT:.*\n/m, '');
  return plain(present) === plain(text);
}
