import type { App } from '../../app/app.ts';
import type { CallOptions } from '../../app/session/call-context.ts';
import { maxAnswer, openFile } from '../../core/answers/answer-limit.ts';
import type { Context } from '../../core/declarations/context.ts';
import type { Resources, TextResource } from '../../core/declarations/toolset.ts';
import { formatPart, parsePart } from '../../core/markdown/text-part.ts';
import type { Located } from '../../core/memory/listing.ts';
import type { Session } from '../../core/memory/session.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { cutText } from '../../core/values/cut-text.ts';
import { MemoryError } from '../../core/values/error.ts';

/** A record as a resource. */
export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
  readonly mimeType: string;
}

/** The text of a record, and what is known against it. */
export interface ResourceText extends Resource {
  readonly text: string;
  readonly _meta?: { readonly 'memory-bank/caution': readonly string[] };
}

/** The notifications to a client when records change. */
export interface ResourceEvents {
  listChanged(): void;
  updated(uri: string): void;
}

const markdown = 'text/markdown';
/** Stands for the path of a text that is made from all records. */
const everyPath = '*';

const silent: ResourceEvents = { listChanged() {}, updated() {} };

/** The records that a session can read as MCP resources: `<scheme>://<key>`. */
export class ResourceFeed {
  readonly #app: App;
  readonly #session: Session;
  readonly #events: ResourceEvents;
  readonly #subscribed = new Set<string>();
  #stop: (() => void) | undefined;
  /** Paths by URI, as last listed; undefined until the client lists or subscribes. */
  #known: Map<string, string> | undefined;
  /** Changed paths that the client has not been notified of. */
  #changed: Set<string> | undefined;

  /** @param events without it, nothing is notified. */
  constructor(app: App, session: Session, events: ResourceEvents = silent) {
    this.#app = app;
    this.#session = session;
    this.#events = events;
  }

  /** Starts the notifications, about these resources in particular. */
  watch(uris: readonly string[] = []): void {
    for (const uri of uris) this.#subscribed.add(uri);
    this.#stop ??= this.#app.watch(this.#session, (paths) => this.#onChange(paths));
  }

  /** Notifies that every resource may have changed. */
  refresh(): void {
    this.#onChange([]);
  }

  /** Lists the records that the session's mode allows reading; empty without a project. */
  async list(options: CallOptions): Promise<Resource[]> {
    return this.#app.run(this.#session, 'resources/list', options, async (context) => {
      const found: Resource[] = [];
      const known = new Map<string, string>();
      for (const { uri, name, description } of await this.#texts(context)) {
        known.set(uri, everyPath);
        found.push({ uri, name, description, mimeType: markdown });
      }
      for (const { scheme, type } of await this.#resources()) {
        for (const { key, path } of await records(context, type)) {
          const uri = toUri(scheme, key);
          known.set(uri, path);
          found.push({ uri, name: key, mimeType: mimeType(path) });
        }
      }
      this.#known = known;
      return found;
    });
  }

  /** Returns a URI template for each record type that is a resource. */
  async templates(): Promise<{ uriTemplate: string; name: string }[]> {
    const resources = await this.#resources();
    return resources.map(({ scheme, type }) => ({
      uriTemplate: `${scheme}://{+path}`,
      name: type.name,
    }));
  }

  /**
   * Returns the text of a record as its file has it, or one section of it; a long text is cut.
   *
   * @param uri may end in `?section=` or `#` and the section, as a search names it.
   * @throws MemoryError `not_found`, `invalid_input` for an unknown section, or the error of the store
   *   for this record.
   */
  async read(uri: string, options: CallOptions): Promise<ResourceText> {
    return this.#app.run(this.#session, 'resources/read', options, async (context) => {
      const made = (await this.#texts(context)).find((one) => one.uri === uri);
      if (made) {
        const text = cutText(await made.text(context), maxAnswer, openFile);
        return { uri, name: made.name, mimeType: markdown, text };
      }
      for (const { scheme, type } of await this.#resources()) {
        const { key, section } = fromUri(scheme, uri) ?? {};
        const record = key === undefined ? undefined : await context.store.get<object>(type, key);
        if (!record) continue;
        // Loaded here, so that the start does not wait for the markdown parser.
        const { readSection } = await import('../../core/markdown/section-argument.ts');
        const whole = readSection(type.codec.encode(record.value), section);
        const part = parsePart(section ?? '');
        const text = cutText(whole, maxAnswer, (kept) => {
          const next = encodeURIComponent(formatPart({ ...part, from: part.from + kept }));
          return `To read on, read ${toUri(scheme, record.key)}?section=${next}.`;
        });
        const caution = (await context.store.cautions([record.path])).get(record.path);
        return {
          uri,
          name: record.key,
          mimeType: mimeType(record.path),
          text,
          ...(caution && { _meta: { 'memory-bank/caution': [...caution] } }),
        };
      }
      throw new MemoryError('not_found', `There is no resource ${uri}.`, { data: { uri } });
    });
  }

  /** Starts notifications about one resource, which need not exist yet. */
  async subscribe(uri: string, options: CallOptions): Promise<void> {
    this.watch([uri]);
    if (!this.#known) await this.list(options);
  }

  unsubscribe(uri: string): void {
    this.#subscribed.delete(uri);
  }

  /** Ends the notifications. */
  close(): void {
    this.#stop?.();
    this.#stop = () => {};
  }

  async #resources(): Promise<Resources[]> {
    return (await this.#app.toolsets()).flatMap((toolset) => toolset.resources ?? []);
  }

  /** The texts made from the records; none without a memory. */
  async #texts(context: Context): Promise<readonly TextResource[]> {
    try {
      if (!(await context.project.site()).initialized) return [];
    } catch (error) {
      if (error instanceof MemoryError && error.code === 'no_project') return [];
      throw error;
    }
    return (await this.#app.toolsets()).flatMap((toolset) => toolset.texts ?? []);
  }

  #onChange(paths: readonly string[]): void {
    if (paths.length === 0) {
      // The session moved to another workspace, where the same URIs name other records.
      this.#events.listChanged();
      for (const uri of this.#subscribed) this.#events.updated(uri);
    }
    if (this.#changed) {
      for (const path of paths) this.#changed.add(path);
      return;
    }
    this.#changed = new Set(paths);
    void this.#notify();
  }

  async #notify(): Promise<void> {
    const before = this.#known ?? new Map<string, string>();
    let after: ReadonlyMap<string, string>;
    let changed: ReadonlySet<string>;
    try {
      await this.list({});
    } catch {
      // The next request that reads the record reports the error.
    } finally {
      after = this.#known ?? before;
      changed = this.#changed ?? new Set();
      this.#changed = undefined;
    }
    const uris = new Set([...before.keys(), ...after.keys()]);
    if (uris.size !== before.size || uris.size !== after.size) this.#events.listChanged();
    for (const uri of this.#subscribed) {
      const path = after.get(uri) ?? before.get(uri);
      const isChanged = path === everyPath ? changed.size > 0 : changed.has(path ?? '');
      if (isChanged) this.#events.updated(uri);
    }
  }
}

async function records(context: Context, type: AnyRecordType): Promise<readonly Located<object>[]> {
  try {
    return (await context.store.list<object>(type)).records;
  } catch (error) {
    if (error instanceof MemoryError && error.code === 'no_project') return [];
    throw error;
  }
}

function toUri(scheme: string, key: string): string {
  return `${scheme}://${key.split('/').map(encodeURIComponent).join('/')}`;
}

/** Returns the key in a URI of this scheme, and the section; undefined for any other text. */
function fromUri(
  scheme: string,
  uri: string,
): { readonly key: string; readonly section: string | undefined } | undefined {
  const start = `${scheme}://`;
  if (!uri.startsWith(start)) return undefined;
  // In a key, both signs are encoded.
  const [path = '', section] = uri.slice(start.length).split(/(?:\?section=|#)(.*)/su, 2);
  try {
    const key = path.split('/').map(decodeURIComponent).join('/');
    return { key, section: section && decodeURIComponent(section.replaceAll('+', '%20')) };
  } catch {
    return undefined;
  }
}

function mimeType(path: string): string {
  return path.endsWith('.md') ? markdown : 'application/yaml';
}
