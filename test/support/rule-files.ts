import type { RuleFolder } from '../../src/store/rule-folder.ts';

/** A folder of rule files in memory; tests edit it like a person would. */
export class RuleFiles implements RuleFolder {
  readonly #files = new Map<string, { text: string; version: number }>();
  /** The names of the files that were read, in order. */
  readonly reads: string[] = [];
  #version = 0;

  constructor(files: { readonly [name: string]: string } = {}) {
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  write(name: string, text: string): void {
    this.#version += 1;
    this.#files.set(name, { text, version: this.#version });
  }

  remove(name: string): void {
    this.#files.delete(name);
  }

  async names(): Promise<string[]> {
    return [...this.#files.keys()];
  }

  async stamp(name: string): Promise<string | undefined> {
    return this.#files.get(name)?.version.toString();
  }

  async read(name: string, limit: number): Promise<string> {
    this.reads.push(name);
    return this.#files.get(name)?.text.slice(0, limit) ?? '';
  }
}
