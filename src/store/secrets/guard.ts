import { existsSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { lineNumber } from '../../core/markdown/line.ts';
import type { Provenance } from '../../core/memory/store.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { JsonObject } from '../../core/values/json.ts';

import { findNamedSecret, findSecrets, type Secret } from './scan.ts';

/** A file's text before and after; undefined where there is no file. */
export interface TextChange {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** The decoded record; undefined for a file that is not a record. */
  readonly value?: object | undefined;
}

/** A text that is about to become part of the history. */
interface NewText {
  readonly text: string;
  /** The text that the history or the user's file already has: a credential in it is not new. */
  before?(): string | undefined;
  /** Where it goes, in the words of the caller: the path of a file, `the reason`. */
  readonly name: string;
  /** Its name in messages, for when the name itself contains the credential. */
  readonly alias?: string;
  /** The decoded record of the text, and its type. */
  readonly record?: { readonly type: AnyRecordType; readonly value: object } | undefined;
}

/** Limit of credentials that one error names. */
const maxNamed = 5;

/** Keeps credentials out of what is written. */
export class SecretGuard {
  /** Fingerprints of texts that look like credentials but are not. */
  readonly allowed: ReadonlySet<string>;
  readonly #configPath: string;

  /**
   * @param allowed fingerprints of texts that look like credentials but are not.
   * @param configPath the file that lists them, for the message.
   */
  constructor(allowed: readonly string[], configPath: string) {
    this.allowed = new Set(allowed);
    this.#configPath = configPath;
  }

  /**
   * Refuses a change that would bring a credential into the history.
   *
   * It checks the files, their names and the message of the commit.
   *
   * @throws MemoryError `secret` with the kind and place of the credential, never the credential itself.
   */
  checkChange(
    changes: readonly TextChange[],
    why: Provenance,
    message: string,
    typeOf: (path: string) => AnyRecordType | undefined,
  ): void {
    // The message may name a record that contains a credential, so that it can be removed.
    const before = () =>
      changes
        .map((one) => (one.before === undefined ? '' : `${one.path}\n${one.before}`))
        .join('\n');
    // A generator, because a change can have very many files.
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
      // Cleaning up the text for the message may have made a credential of it.
      { text: message, before, name: 'the message of the commit' },
    ];
    this.#check(
      (function* texts() {
        yield* files();
        yield* rest;
      })(),
      'Keep it in a credential store, and remember only where it is.',
    );
  }

  /**
   * Refuses an uncommitted edit by hand that a change would have to commit first.
   *
   * @throws MemoryError `secret`, as in `checkChange`.
   */
  checkEdit(path: string, edited: Buffer, committed: Buffer | undefined): void {
    const before = () => committed?.toString('utf8');
    this.#check(
      [{ text: edited.toString('utf8'), before, name: path }],
      'It is in an edit by hand that is not committed yet: remove it from the file (and from the index), or commit the edit yourself.',
    );
  }

  /** Says of each credential in a file what it looks like and where it is, never the credential itself. */
  describeIn(
    text: string,
    record: { readonly type: AnyRecordType; readonly value: object } | undefined,
  ): { readonly line: number; readonly message: string }[] {
    const whole = { text, name: 'It', record };
    return this.#find(whole).map((secret) => {
      const { line, ...place } = locate(secret, whole, 'It');
      const known = `add its fingerprint (${secret.fingerprint}) to secrets.allow in ${this.#configPath}`;
      const message = `${describe({ line, ...place })}: remove it, and revoke it where it is valid, because the history keeps it. If it is not a credential, ${known}.`;
      return { line, message };
    });
  }

  #check(texts: Iterable<NewText>, advice: string): void {
    const locations = new Map<string, SecretLocation>();
    for (const text of texts) {
      const found = this.#find(text);
      const { name, alias } = text;
      const shown = alias !== undefined && found.some((one) => reveals(name, one)) ? alias : name;
      for (const secret of found) {
        // The first place is enough to find the others, such as a subject that names a record.
        if (!locations.has(secret.fingerprint))
          locations.set(secret.fingerprint, locate(secret, text, shown));
      }
    }
    if (locations.size === 0) return;
    const named = [...locations].slice(0, maxNamed);
    const list = named.map(([, location]) => describe(location)).join('; ');
    const rest = locations.size - named.length;
    const fingerprints = named.map(([fingerprint]) => fingerprint).join(', ');
    const message = `${list}${rest > 0 ? `; and ${rest} more` : ''}. Nothing was written.`;
    throw new MemoryError('secret', message, {
      hint: `${advice} If it is not a credential, add its fingerprint (${fingerprints}) to secrets.allow in ${this.#configPath}.`,
      data: { secrets: named.map(([fingerprint, location]) => ({ ...location, fingerprint })) },
    });
  }

  #find({ text, before, record }: NewText): Secret[] {
    const all = findSecrets(text);
    if (record) all.push(...findNamedSecret(record.type.search(record.value), text));
    const found = all.filter(({ fingerprint }) => !this.allowed.has(fingerprint));
    const known = found.length === 0 ? '' : (before?.() ?? '');
    return found.filter((secret) => !known.includes(secret.text));
  }
}

/**
 * Refuses to create a folder if its name, or that of a new folder above it, contains a credential.
 *
 * @param path absolute; folders that already exist are not checked.
 * @throws MemoryError `secret`.
 */
export function checkNewFolder(path: string): void {
  let existing = path;
  while (!existsSync(existing) && existing !== dirname(existing)) existing = dirname(existing);
  const [secret] = findSecrets(relative(existing, path));
  if (!secret) return;
  const { kind, fingerprint } = secret;
  const location = { kind, in: 'the name of the folder', line: 1 };
  throw new MemoryError('secret', `${describe(location)}. Nothing was written.`, {
    hint: 'Give it another name. If it is not a credential, create the folder first.',
    data: { secrets: [{ ...location, fingerprint }] },
  });
}

interface SecretLocation extends JsonObject {
  readonly kind: string;
  readonly in: string;
  readonly line: number;
}

function locate(secret: Secret, { text, record }: NewText, shown: string): SecretLocation {
  const field = record && fieldOf(record.value, secret);
  return {
    kind: secret.kind,
    in: shown,
    line: lineNumber(text, secret.index),
    ...(field !== undefined && field !== '' && { field }),
  };
}

function describe({ kind, in: where, line, field }: SecretLocation): string {
  const inField = typeof field === 'string' ? `, field "${field}"` : '';
  return `${where} (line ${line}${inField}) holds what looks like ${kind}`;
}

/** Whether a name contains the beginning of a credential, in any letter case and with any signs. */
function reveals(name: string, secret: Secret): boolean {
  const bare = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '');
  return bare(name).includes(bare(secret.text).slice(0, 12));
}

/** The field of a record that contains a credential; only the field above, if its name is one. */
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
