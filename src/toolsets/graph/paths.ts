import * as z from 'zod';
import { offsetArgument } from '../../core/answers/offset-argument.ts';
import { defineTool, type Tool } from '../../core/declarations/tool.ts';
import type { Listing } from '../../core/memory/listing.ts';
import type { Reader } from '../../core/memory/store.ts';
import { invalid } from '../../core/values/error.ts';
import type { JsonObject } from '../../core/values/json.ts';
import {
  bodyOf,
  byKey,
  create,
  find,
  findRecord,
  listLinked,
  missing,
  newIdentity,
} from './crud.ts';
import { batch, id, pathType, projectPath, slug, text, texts } from './graph-fields.ts';
import { dropLinks, featurePaths, link, unlink } from './links.ts';
import { NounTools } from './noun-tools.ts';
import { feature, type Path, path } from './records.ts';

/** A path as the tools return it. */
export function pathBody(value: Path): JsonObject {
  const { id, path, type, description = null, use_when = [], created_at, updated_at } = value;
  return { id, path, type, description, use_when, created_at, updated_at };
}

/** Returns the project paths with these ids, in this order. */
async function pathsOf(reader: Reader, ids: readonly string[]): Promise<string[]> {
  const { records } = await reader.list(path, { ids });
  const byId = new Map(records.map(({ key, value }) => [value.id, key]));
  return ids.map((id) => {
    const key = byId.get(id);
    if (key === undefined) throw missing(path, `with id '${id}'`);
    return key;
  });
}

async function pathOf(reader: Reader, id: string): Promise<string> {
  const [found = ''] = await pathsOf(reader, [id]);
  return found;
}

const paths = new NounTools({
  type: path,
  naming: z.object({ id }),
  key: (reader, { id }) => pathOf(reader, id),
  body: pathBody,
  // A path describes one file; another that says nearly the same is about another file.
  compared: false,
});

/** Path tools (seed 000). */
export const pathTools: readonly Tool[] = [
  defineTool({
    name: 'create_paths',
    title: 'Create paths',
    description:
      'Register a file or directory as a path of the project: what it contains, when to read it.',
    effect: 'write',
    input: z.object({
      paths: batch(
        z.object({
          path: projectPath,
          type: pathType,
          description: text.optional(),
          use_when: texts.optional(),
        }),
      ),
    }),
    async handle(context, args) {
      const paths = args.paths.map((given) => ({ ...given, ...newIdentity(context) }));
      const argument = (index: number) => ['paths', index, 'path'];
      const written = await create(context, path, paths, argument);
      return { paths: written.map(({ value }) => pathBody(value)) };
    },
  }),

  defineTool({
    name: 'get_path',
    title: 'Get a path',
    description: 'Read a path by id or path. The id wins when both are given.',
    effect: 'read',
    input: z.object({ id: id.optional(), path: projectPath.optional() }),
    async handle({ store }, args) {
      const key = args.id === undefined ? args.path : await pathOf(store, args.id);
      if (key === undefined) throw invalid([], 'id or path is required', 'missing');
      return { path: await bodyOf(store, await findRecord(store, path, key), pathBody) };
    },
  }),

  paths.list(
    'List all paths, those of a feature, or those of one type.',
    z.object({
      feature_slug: slug.optional(),
      type: pathType.optional(),
      offset: offsetArgument,
    }),
    async (store, { feature_slug, type }) => {
      const features = feature_slug === undefined ? undefined : [feature_slug];
      const { records, damaged } = await listPaths(store, features, type);
      return { records: byKey(records), damaged };
    },
  ),

  paths.update(
    'Change the description or use_when of a path, not its type.',
    z.object({ id, description: text.optional(), use_when: texts.optional() }),
  ),

  paths.delete(
    'Delete the record of a path and its links. The file itself stays.',
    async (draft, { path }) => [
      { noun: 'link', names: await dropLinks(draft, featurePaths, path) },
    ],
  ),

  defineTool({
    name: 'link_paths_to_feature',
    title: 'Link paths to a feature',
    description: 'Say which files and directories belong to a feature, by the ids of their paths.',
    effect: 'write',
    idempotent: true,
    input: z.object({ feature_slug: slug, path_ids: batch(id) }),
    async handle(context, { feature_slug, path_ids }) {
      const paths = await pathsOf(context.store, path_ids);
      return link(context, featurePaths, feature_slug, paths);
    },
  }),

  defineTool({
    name: 'unlink_path_from_feature',
    title: 'Unlink a path from a feature',
    description: 'Remove a path from a feature. Both records stay.',
    effect: 'destroy',
    idempotent: true,
    input: z.object({ feature_slug: slug, path_id: id }),
    async handle(context, { feature_slug, path_id }) {
      return unlink(context, featurePaths, feature_slug, await pathOf(context.store, path_id));
    },
  }),
];

/** Lists the paths of some features, or all paths; of one type, or of both. */
export async function listPaths(
  reader: Reader,
  features: readonly string[] | undefined,
  type: Path['type'] | undefined,
): Promise<Listing<Path>> {
  const linked: string[] = [];
  for (const key of features ?? [])
    linked.push(...((await find(reader, feature, key)).paths ?? []));
  const { records, damaged } = await (features
    ? listLinked(reader, path, linked)
    : reader.list(path));
  return {
    records: records.filter(({ value }) => type === undefined || value.type === type),
    damaged,
  };
}
