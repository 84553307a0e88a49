import { existsSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { MemoryError } from '../../core/error.ts';
import type { JsonObject } from '../../core/json.ts';
import type { AnyRecordType } from '../../core/record-type.ts';
import type { Provenance } from '../../core/store.ts';

import { findNamedSecret, findSecrets, type Secret } from './scan.ts';

/** A file's text before and after; undefined where there is no file. */
export interface TextChange {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** The record that the text says; undefined for a file that is none. */
  readonly value?: object | undefined;
}

/** A text that is about to become part of the history. */
interface NewText {
  readonly text: string;
  /** The text that the history or the user's file already has: a credential in it is not new. */
  before?(): string | undefined;
  /** Where it goes, as the caller knows it: the path of a file, `the reason`. */
  readonly name: string;
  /** Its name in messages, for when the name itself contains the credential. */
  readonly alias?: string;
  /** The record that the text says, and its type. */
  readonly record?: { readonly type: AnyRecordType; readonly value: object } | undefined;
}

/** So many credentials are named in one error. */
const maxNamed = 5;

/** Keeps credentials out of what is written. */
export class SecretGuard {
  readonly #allowed: ReadonlySet<string>;
  readonly #configPath: string;

  /**
   * @param allowed fingerprints of what looks like a credential and is none.
   * @param configPath where they are listed, for the message.
   */
  constructor(allowed: readonly string[], configPath: string) {
    this.#allowed = new Set(allowed);
    this.#configPath = configPath;
  }

  /**
   * Refuses a change that would bring a credential into the history: by a file, by its name, or by
   * the message of the commit.
   *
   * @throws MemoryError `secret` with the kind and place of the credential, and never the credential itself.
   */
  checkChange(
    changes: readonly TextChange[],
    why: Provenance,
    message: string,
    typeOf: (path: string) => AnyRecordType | undefined,
  ): void {
    // A record that carries a credential can still be removed by its name.
    const before = () =>
      changes
        .map((one) => (one.before === undefined ? '' : `${one.path}\n${one.before}`))
        .join('\n');
    // One after the other: a change may be of very many files.
    function* files(): Generator<NewText> {
      for (const { path, before, after, value } of changes) {
        if (after === undefined) continue;
        const type = typeOf(path);
        const known = before === undefined ? undefined : path;
        const alias = `the ${type?.name ?? 'file'}`;
        const record = type && value && { type, value };
        yield* [
          { text: after, before: () => before, name: path, alias, record },
          { text: path, before: () => known, name: 'the name of the file' },
        ];
      }
    }
    const trailers = Object.entries(why.trailers ?? {}).map(([name, text]) => {
      return { text, before, name: `the ${name} of the commit` };
    });
    const rest = [
      { text: why.reason ?? '', before, name: 'the reason' },
      { text: why.subject, before, name: 'the subject of the commit' },
      ...trailers,
      // What was cleaned up for the message may have become a credential by that.
      { text: message, before, name: 'the message of the commit' },
    ];
    this.#check(
      (function* texts() {
        yield* files();
        yield* rest;
      })(),
      'Keep it where credentials are kept, and remember only where that is.',
    );
  }

  /**
   * Refuses a version of a file that a person has made and that would have to be committed too.
   *
   * @throws MemoryError `secret`, as above.
   */
  checkEdit(path: string, version: Buffer, committed: Buffer | undefined): void {
    const before = () => committed?.toString('utf8');
    this.#check(
      [{ text: version.toString('utf8'), before, name: path }],
      'It is in an edit by hand that is not committed yet: take it out of the file (and of the index), or commit the edit yourself.',
    );
  }

  #check(texts: Iterable<NewText>, wayOut: string): void {
    const places = new Map<string, SecretLocation>();
    for (const text of texts) {
      const found = this.#find(text);
      const { name, alias } = text;
      const shown = alias !== undefined && found.some((one) => gives(name, one)) ? alias : name;
      for (const secret of found) {
        // The first place is enough to find the others, such as the subject that names a record.
        if (!places.has(secret.fingerprint))
          places.set(secret.fingerprint, placeOf(secret, text, shown));
      }
    }
    if (places.size === 0) return;
    const named = [...places].slice(0, maxNamed);
    const list = named.map(([, place]) => describe(place)).join('; ');
    const rest = places.size - named.length;
    const fingerprints = named.map(([fingerprint]) => fingerprint).join(', ');
    const message = `${list}${rest > 0 ? `; and ${rest} more` : ''}. Nothing was written.`;
    throw new MemoryError('secret', message, {
      hint: `${wayOut} If it is not a credential, add its fingerprint (${fingerprints}) to secrets.allow in ${this.#configPath}.`,
      data: { secrets: named.map(([fingerprint, place]) => ({ ...place, fingerprint })) },
    });
  }

  #find({ text, before, record }: NewText): Secret[] {
    const all = findSecrets(text);
    if (record) all.push(...findNamedSecret(record.type.search(record.value), text));
    const found = all.filter(({ fingerprint }) => !this.#allowed.has(fingerprint));
    const known = found.length === 0 ? '' : (before?.() ?? '');
    return found.filter((secret) => !known.includes(secret.text));
  }
}

/**
 * Refuses to make a folder, or one on the way to it, that is named by a credential.
 *
 * @param path absolute; what is there already was named by somebody else.
 * @throws MemoryError `secret`.
 */
export function checkNewFolder(path: string): void {
  let there = path;
  while (!existsSync(there) && there !== dirname(there)) there = dirname(there);
  const [secret] = findSecrets(relative(there, path));
  if (!secret) return;
  const { kind, fingerprint } = secret;
  const place = { kind, in: 'the name of the folder', line: 1 };
  throw new MemoryError('secret', `${describe(place)}. Nothing was written.`, {
    hint: 'Give it another name. If it is not a credential, make the folder first.',
    data: { secrets: [{ ...place, fingerprint }] },
  });
}

interface SecretLocation extends JsonObject {
  readonly kind: string;
  readonly in: string;
  readonly line: number;
}

function placeOf(secret: Secret, { text, record }: NewText, shown: string): SecretLocation {
  const field = record && fieldOf(record.value, secret);
  return {
    kind: secret.kind,
    in: shown,
    line: text.slice(0, secret.index).split('\n').length,
    ...(field !== undefined && field !== '' && { field }),
  };
}

function describe({ kind, in: where, line, field }: SecretLocation): string {
  const more = typeof field === 'string' ? `, field "${field}"` : '';
  return `${where} (line ${line}${more}) holds what looks like ${kind}`;
}

/** Whether a name was made from the credential, in whatever letter case and with whatever signs. */
function gives(name: string, secret: Secret): boolean {
  const bare = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '');
  return bare(name).includes(bare(secret.text).slice(0, 12));
}

/** The field of a record that contains a credential, unless a name on the way is one. */
function fieldOf(value: unknown, secret: Secret, path = ''): string | undefined {
  if (typeof value === 'string') return value.includes(secret.text) ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    if (key.includes(secret.text) || findSecrets(key).length > 0) return path;
    const step = Array.isArray(value) ? `[${key}]` : `${path && '.'}${key}`;
    const found = fieldOf(item, secret, path + step);
    if (found !== undefined) return found;
  }
  return undefined;
}
