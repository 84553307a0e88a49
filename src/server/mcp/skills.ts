import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject, JsonValue } from '../../core/values/json.ts';
import { readYaml } from '../../core/yaml/yaml.ts';
import { invalidParams, RpcError } from './rpc-error.ts';

/** A file of a skill as a resource. */
interface SkillText {
  readonly uri: string;
  readonly name: string;
  readonly description?: JsonValue | undefined;
  readonly mimeType: string;
  readonly text: string;
}

/** A file of a skill, as its manifest lists it. */
interface SkillFile {
  readonly uri: string;
  readonly digest: string;
  readonly size: number;
}

/** A skill of the program: a folder with instructions for agents. */
interface Skill {
  readonly uri: string;
  readonly frontmatter: JsonObject;
  readonly resources: readonly SkillFile[];
}

/** The name of the file with the instructions of a skill. */
const mainFile = 'SKILL.md';

/** The folders of the skills: next to the bundle or its chunks, and in the sources. */
const folders = ['skills', '../skills', '../../../plugins/skills'];

let loaded:
  | Promise<{ skills: readonly Skill[]; texts: ReadonlyMap<string, SkillText> }>
  | undefined;

/** Returns the skills that the program ships, by name. */
export async function listSkills(): Promise<readonly Skill[]> {
  return (await load()).skills;
}

/** Returns the files of the skills as resources, without their texts. */
export async function listSkillFiles(): Promise<Omit<SkillText, 'text'>[]> {
  return [...(await load()).texts.values()].map(({ text: _, ...resource }) => resource);
}

/** @throws RpcError for a URI that is not of the main file of a skill. */
export async function getSkill(uri: string): Promise<Skill> {
  const skill = (await listSkills()).find((one) => one.uri === uri);
  if (skill) return skill;
  throw new RpcError(invalidParams, `There is no skill ${uri}; skills/list names them.`);
}

/** @throws RpcError for a file that no skill has. */
export async function readSkillFile(uri: string): Promise<SkillText> {
  const text = (await load()).texts.get(uri);
  if (text) return text;
  throw new RpcError(invalidParams, `There is no resource ${uri}; skills/list names them.`);
}

function load() {
  // Kept, so that the texts match the digests even after the files of the program were replaced.
  loaded ??= read();
  return loaded;
}

async function read() {
  const folder = folders
    .map((name) => join(import.meta.dirname, name))
    .find((path) => existsSync(path));
  const texts = new Map<string, SkillText>();
  const skills: Skill[] = [];
  for (const name of folder === undefined ? [] : (await readdir(folder)).sort()) {
    const files = await readdir(join(folder ?? '', name), { recursive: true });
    const resources: SkillFile[] = [];
    for (const file of files.filter((one) => one.endsWith('.md')).sort()) {
      const bytes = await readFile(join(folder ?? '', name, file));
      const uri = `skill://${name}/${file.replaceAll('\\', '/')}`;
      const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
      texts.set(uri, { uri, name: file, mimeType: 'text/markdown', text: bytes.toString() });
      resources.push({ uri, digest, size: bytes.length });
    }
    const uri = `skill://${name}/${mainFile}`;
    const main = texts.get(uri);
    if (!main) continue;
    const [, yaml = ''] = /^---\n(.*?)^---$/ms.exec(main.text) ?? [];
    const frontmatter = readYaml(yaml);
    texts.set(uri, { ...main, name, description: frontmatter.description });
    skills.push({ uri, frontmatter, resources });
  }
  return { skills, texts };
}
