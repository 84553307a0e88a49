import { expect } from 'vitest';
import type { App } from '../../src/app/app.ts';
import type { Session } from '../../src/core/memory/session.ts';
import { projectApp } from './project-app.ts';
import { Repo } from './repo.ts';

/** A memory with a session, in one of the layouts. */
export class LayoutMemory {
  readonly repo = Repo.create();
  readonly app: App = projectApp(this.repo.root);
  readonly session: Session = this.app.connect({ isAgent: true });

  static async in(layout: 'log' | 'entries'): Promise<LayoutMemory> {
    const memory = new LayoutMemory();
    memory.repo.write('src/lock.ts', 'lock()\nwait()\nunlock()\n');
    memory.commit('Begin');
    await memory.call('initialize_memory_bank', { path: memory.repo.root });
    if (layout === 'entries') await memory.convert('entries');
    return memory;
  }

  async call(tool: string, args: object = {}): Promise<string> {
    const reply = await this.app.call(this.session, tool, args);
    return JSON.stringify(reply?.body ?? null);
  }

  /** The text of a file, as the tools read it. */
  async content(filename: string): Promise<string> {
    const { body } =
      (await this.app.call(this.session, 'read_memory_bank_file', { filename })) ?? {};
    return JSON.parse(JSON.stringify(body)).content;
  }

  convert(to: 'log' | 'entries') {
    return this.app.run(this.session, 'layout', {}, ({ project }) => project.changeLayout(to));
  }

  async findings() {
    const { records } = await this.app.run(this.session, 'check', {}, ({ history }) =>
      history.evidence({}),
    );
    return records.flatMap(({ findings }) => findings);
  }

  async check(): Promise<string> {
    return JSON.stringify(await this.findings());
  }

  commit(message: string): void {
    this.repo.git('add', '-A');
    this.repo.git('commit', '-q', '-m', message);
  }

  decide(title: string, more: object = {}): Promise<string> {
    return this.call('log_decision', {
      title,
      context: 'It is needed.',
      decision: `Do ${title}.`,
      ...more,
    });
  }

  get files(): string[] {
    return this.repo.git('ls-tree', '-r', '--name-only', 'HEAD', '.memory-bank').split('\n');
  }

  async close(): Promise<void> {
    await this.app.close();
    expect(this.repo.status()).toEqual([]);
    expect(this.repo.fsck()).toBe('');
    this.repo.remove();
  }
}
