import { expect } from 'vitest';
import { isObject } from '../../../src/core/values/json.ts';
import { graph } from '../../../src/toolsets/graph/toolset.ts';
import { callTool, TestContext } from '../../support/context.ts';

/** Any answer of a tool; a test says what it expects in it. */
// biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer is the test
export type Answer = any;

/** An agent that plans with the tools of the graph, on a store in memory. */
export class Planner {
  readonly context = new TestContext(graph);

  get files(): Map<string, string> {
    return this.context.store.files;
  }

  /** The subjects of the commits so far. */
  get subjects(): string[] {
    return this.context.store.commits.map(({ subject }) => subject);
  }

  /** What a tool answers in `data`; the call must succeed. */
  async do(name: string, args: unknown = {}): Promise<Answer> {
    const { body, isError } = await callTool(graph, this.context, name, args);
    expect(body, `${name} ${JSON.stringify(args)}`).toMatchObject({ success: true });
    expect(isError).toBe(false);
    return body.data;
  }

  /** The error that a tool answers; nothing may have been written. */
  async fail(name: string, args: unknown = {}): Promise<{ type: string; message: string }> {
    const before = new Map(this.files);
    const commits = this.context.store.commits.length;
    const { body, isError } = await callTool(graph, this.context, name, args);
    expect(body, `${name} ${JSON.stringify(args)}`).toMatchObject({ success: false });
    expect(isError).toBe(true);
    expect(this.files).toEqual(before);
    expect(this.context.store.commits).toHaveLength(commits);
    const error: Answer = isObject(body.error) ? body.error : {};
    return error;
  }

  /** Creates features with these slugs, named like them. */
  async features(...slugs: string[]): Promise<Answer[]> {
    const features = slugs.map((slug) => ({ slug, name: slug.toUpperCase() }));
    return (await this.do('create_features', { features })).features;
  }

  /** Creates files with these paths, and returns their ids. */
  async paths(...paths: string[]): Promise<string[]> {
    const files = paths.map((path) => ({ path, type: 'file' }));
    const created = await this.do('create_paths', { paths: files });
    return created.paths.map(({ id }: Answer) => id);
  }

  /** Creates an objective with tasks, and returns their ids. */
  async objective(slug: string, ...texts: string[]): Promise<string[]> {
    await this.do('create_objective', { slug, name: slug.toUpperCase() });
    if (texts.length === 0) return [];
    const tasks = texts.map((text) => ({ text }));
    const created = await this.do('create_tasks', { objective_slug: slug, tasks });
    return created.tasks.map(({ id }: Answer) => id);
  }
}
