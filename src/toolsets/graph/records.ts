import * as z from 'zod';
import { encodePath, fileNames, filePaths, slug as readable } from '../../core/names/name.ts';
import { yamlCodec } from '../../core/record/codec.ts';
import { usualRoles } from '../../core/record/part-role.ts';
import {
  defineRecordType,
  type MergeRule,
  type RecordType,
  type SearchFields,
} from '../../core/record/record-type.ts';
import { idPattern, pathType, slugPattern, status } from './graph-fields.ts';

/** Fields common to all six record types, and the text that two of them have. */
export interface GraphRecord {
  readonly id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly text?: string;
}

/** Fields at the end of each file, after the fields that a reviewer reads. */
const identity = {
  id: z.string().regex(idPattern),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
};
/** Fields that every record has in addition to its own. */
export type IdentityField = keyof typeof identity;

/** When two branches create the same record, the earlier identity wins. */
const identityMerge = { id: 'first', created_at: 'first', updated_at: 'latest' } as const;

const slug = z.string().regex(slugPattern);
const line = z.string().min(1);
const description = z.string().optional();
/** Texts, or keys of other records; absent when empty. */
const list = z.array(line).optional();

/** A slug is a valid path already, except for the device names of Windows. */
const slugPath = (key: string): readonly string[] => [encodePath(key)];

/** A feature; the file of `auth/oauth` is in the folder `auth`. */
export const feature = named({
  name: 'feature',
  folder: 'graph/features',
  schema: z.object({
    slug,
    name: line,
    description,
    paths: list.describe('paths of the project that belong to it, sorted'),
    ...identity,
  }),
  key: (value) => value.slug,
  fileNames: slugPath,
  search: (value) => ({ title: `${value.slug} ${value.name}`, body: value.description ?? '' }),
  cites: (value) => value.paths ?? [],
  linksTo: (value) => (value.paths ?? []).map((key) => ({ type: path, key })),
  points: ({ slug, name, description, paths = [], updated_at }) => [
    { part: 'about', text: titled(name, description), at: updated_at, names: [slug, ...paths] },
  ],
  merge: { ...identityMerge, description: 'text', paths: 'set' },
});

/** A file or directory of the project; the record's file is in folders of the same names. */
export const path = named({
  name: 'path',
  folder: 'graph/paths',
  schema: z.object({
    path: line.describe('relative to the project'),
    type: pathType,
    description,
    use_when: list.describe('when to look at it'),
    ...identity,
  }),
  key: (value) => value.path,
  fileNames: filePaths,
  search: (value) => ({
    title: value.path,
    body: value.description ?? '',
    notes: (value.use_when ?? []).join('\n'),
    type: value.type,
  }),
  roles: { ...usualRoles, notes: 'answer' },
  points: ({ path, description, use_when = [], updated_at }) => {
    const text = titled(path, [description, ...use_when].filter((part) => part).join('; '));
    return [{ part: 'about', text, at: updated_at, names: [path] }];
  },
  vocabulary: { type: pathType.options },
  cites: (value) => [value.path.replace(/\/$/, '')],
  merge: { ...identityMerge, description: 'text', use_when: 'list' },
});

/** A requirement of a feature; its file is in a folder with the feature's name. */
export const requirement = owned({
  name: 'requirement',
  folder: 'graph/requirements',
  schema: z.object({
    text: line,
    notes: list,
    feature: slug.describe('slug of the feature that has to fulfil it'),
    ...identity,
  }),
  owner: (value) => value.feature,
  search: (value) => ({ title: value.text, notes: (value.notes ?? []).join('\n') }),
  roles: { ...usualRoles, notes: 'answer' },
  dependsOn: (value) => [{ type: feature, key: value.feature }],
  merge: { ...identityMerge, text: 'text', notes: 'list' },
});

/** An objective, with links to its features and tickets. */
export const objective = named({
  name: 'objective',
  folder: 'graph/objectives',
  schema: z.object({
    slug,
    name: line,
    status,
    description,
    plan_file_path: z.string().optional(),
    features: list.describe('slugs of the features that it is about, sorted'),
    tickets: list.describe('keys of the tickets that it is about, sorted'),
    ...identity,
  }),
  key: (value) => value.slug,
  fileNames: slugPath,
  search: (value) => ({
    title: `${value.slug} ${value.name}`,
    body: value.description ?? '',
    state: value.status,
  }),
  points: ({ slug, name, status, description, updated_at }) => [
    {
      part: status === 'in_progress' ? 'now' : 'about',
      text: `objective ${titled(name, description)}`,
      at: updated_at,
      names: [slug],
    },
  ],
  files: ({ plan_file_path: plan }) => (plan === undefined ? [] : [plan]),
  dependsOn: ({ features = [], tickets = [] }) => [
    ...features.map((key) => ({ type: feature, key })),
    ...tickets.map((key) => ({ type: ticket, key })),
  ],
  merge: { ...identityMerge, description: 'text', features: 'set', tickets: 'set' },
});

/** A step of an objective; its file is in a folder with the objective's name. */
export const task = owned({
  name: 'task',
  folder: 'graph/tasks',
  schema: z.object({
    text: line,
    status,
    order: z
      .int()
      .min(0)
      .describe(
        'place among the tasks of the objective, from 0; of two equal ones the older counts first',
      ),
    objective: slug.describe('slug of the objective that it is a step of'),
    ...identity,
  }),
  owner: (value) => value.objective,
  search: (value) => ({ title: value.text, state: value.status }),
  points: ({ text, status, objective, updated_at }) => {
    if (status === 'completed') return [];
    return [{ part: 'now', text: `${status}: ${text}`, at: updated_at, names: [objective] }];
  },
  dependsOn: (value) => [{ type: objective, key: value.objective }],
  merge: { ...identityMerge, text: 'text', order: 'max' },
});

/** A ticket of an external issue tracker. */
export const ticket = named({
  name: 'ticket',
  folder: 'graph/tickets',
  schema: z.object({ key: line, title: z.string().optional(), description, ...identity }),
  key: (value) => value.key,
  fileNames,
  search: (value) => ({
    title: `${value.key} ${value.title ?? ''}`,
    body: value.description ?? '',
  }),
  points: ({ key, title, description, updated_at }) => [
    {
      part: 'about',
      text: `ticket ${titled(title ? `${key} ${title}` : key, description)}`,
      at: updated_at,
      names: [key],
    },
  ],
  merge: { ...identityMerge, description: 'text' },
});

export type Feature = z.infer<typeof feature.schema>;
export type Path = z.infer<typeof path.schema>;
export type Requirement = z.infer<typeof requirement.schema>;
export type Objective = z.infer<typeof objective.schema>;
export type Task = z.infer<typeof task.schema>;
export type Ticket = z.infer<typeof ticket.schema>;

/** A name with its description, if it has one. */
function titled(name: string, description: string | undefined): string {
  return description ? `${name}: ${description}` : name;
}

interface Kind<T extends object>
  extends Pick<
      RecordType<T>,
      'vocabulary' | 'cites' | 'files' | 'dependsOn' | 'linksTo' | 'points'
    >,
    Partial<Pick<RecordType<T>, 'roles'>> {
  readonly name: string;
  readonly folder: string;
  readonly schema: z.ZodType<T>;
  search(value: T): SearchFields;
  readonly merge: MergeRule<T>;
}

/** Declares a type whose key the caller chooses; the path of the file follows from the key. */
function named<T extends GraphRecord>({
  fileNames,
  ...kind
}: Kind<T> & { key(value: T): string; fileNames(key: string): readonly string[] }): RecordType<T> {
  const locate = (key: string) => fileNames(key).map((name) => `${kind.folder}/${name}.yaml`);
  const path = (value: T) => locate(kind.key(value))[0] ?? '';
  return define({ ...kind, id: (value) => value.id, locate, path });
}

/** A type whose records belong to records of another type, in folders named after them. */
export interface OwnedType<T extends object> extends RecordType<T> {
  /** Returns the key of the owner. */
  owner(value: T): string;
  /** Returns the folder of an owner's records and of owners below it, relative to the type's folder. */
  folderOf(owner: string): string;
}

/** Declares a type whose key is its id; its file is in the folder of its owner. */
function owned<T extends GraphRecord & { text: string }>({
  owner,
  ...kind
}: Kind<T> & Pick<OwnedType<T>, 'owner'>): OwnedType<T> {
  const path = (value: T) =>
    `${kind.folder}/${encodePath(owner(value))}/${readable(value.text)}.yaml`;
  const type = define({ ...kind, key: (value) => value.id, path });
  return { ...type, owner, folderOf: encodePath };
}

function define<T extends GraphRecord>({
  merge,
  ...kind
}: Kind<T> & Pick<RecordType<T>, 'key' | 'id' | 'path' | 'locate'>): RecordType<T> {
  return defineRecordType({
    roles: usualRoles,
    ...kind,
    toolset: 'graph',
    extension: '.yaml',
    codec: yamlCodec(kind.schema),
    merge,
  });
}
