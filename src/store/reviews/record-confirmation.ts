import { Sections } from '../../core/markdown/section-statements.ts';
import type { Confirmed } from '../../core/memory/store.ts';
import { missing } from '../../core/memory/supersede.ts';
import type { Confirmable, RecordConfirmation } from '../../core/memory/waiting-reviews.ts';
import { pastedPath } from '../../core/names/pasted-path.ts';
import { formatAddress, parseAddress } from '../../core/names/record-address.ts';
import { MemoryError } from '../../core/values/error.ts';
import { identity } from '../../git/refs/identity.ts';
import { Confirmations, confirmedText } from '../history/confirmations.ts';
import { type HistoryReader, recordPath } from '../history/history-reader.ts';
import { checkSeen } from '../history/restoration.ts';

/** Confirms a record or section as it is, with a commit that changes no file; see `Reviews`. */
export async function confirm(
  reader: HistoryReader,
  given: string,
  seen?: string,
): Promise<RecordConfirmation> {
  const { actor, onCommit } = reader.rights;
  const { path: asked, section } = parseAddress(pastedPath(given));
  const path = recordPath(asked);
  const named = formatAddress({ path, section });
  const { result, made } = await reader.history.memory.change(
    (confirms: Confirmed) => ({ subject: `confirm ${confirms.address}`, confirms }),
    async (draft): Promise<Confirmed> => {
      await draft.refresh();
      if (seen !== undefined) await checkSeen(reader, path, seen);
      const address = await draft.addressOf(named);
      const text = address === undefined ? undefined : await draft.text(address);
      if (address === undefined || text === undefined) throw missing(named);
      await draft.keep(path);
      return { address, text: confirmedText(text) };
    },
    reader.access,
    await actor(),
    { caller: reader.rights, alone: true },
  );
  if (!made) throw new MemoryError('internal', `${result.address} was not confirmed.`);
  onCommit(made);
  // Nothing is read any more: an error would say that the record was not confirmed.
  return { address: result.address, commit: made.oid };
}

/** The author of the session's commits; see `Reviews`. */
export async function personOf({ history, rights }: HistoryReader): Promise<string> {
  const own = identity(history.repository.config(), 'author', new Date());
  const { name, email } = { ...own, ...(await rights.actor()).author };
  return `${name} <${email}>`;
}

/** Whether the author of the session's commits has confirmed a record or section; see `Reviews`. */
export async function isConfirmed(reader: HistoryReader, given: string): Promise<boolean> {
  const { path, section } = parseAddress(given);
  const { memory, repository } = reader.history;
  const head = repository.head().oid;
  const text = memory.text(path)?.replaceAll('\r\n', '\n');
  if (head === undefined || text === undefined) return false;
  const place = await reader.indexedCommit(head);
  const part = section === undefined ? undefined : new Sections(path, text).find(section);
  const address = { path, ...(part && { section: part.path }) };
  const person = await personOf(reader);
  const isOwn = (commit: number) =>
    reader.history.commit(place.index.commit(commit).oid).author === person;
  return new Confirmations(reader, place).ofText(address, text, isOwn) !== undefined;
}

/** The record and its sections as they are now, with what is confirmed of them; see `Reviews`. */
export async function confirmable(
  reader: HistoryReader,
  given: string,
): Promise<readonly Confirmable[]> {
  const path = recordPath(given);
  reader.checkRead(path);
  const { memory, repository } = reader.history;
  const head = repository.head().oid;
  const text = memory.text(path)?.replaceAll('\r\n', '\n');
  if (head === undefined || text === undefined) return [];
  const place = await reader.indexedCommit(head);
  const confirmations = new Confirmations(reader, place);
  const sections = path.endsWith('.md') ? new Sections(path, text) : undefined;
  const parts = confirmations.inText(path, text);
  const commitOf = async (number: number | undefined) =>
    number === undefined ? undefined : reader.describe(place.index.commit(number).oid);
  const entries = sections?.all.filter((one) => sections.addressOf(one) !== path) ?? [];
  const level = Math.min(...entries.map((one) => one.level));
  const found = await Promise.all(
    entries
      .filter((one) => one.level === level)
      .map(async (one) => ({
        address: sections?.addressOf(one) ?? path,
        title: one.heading,
        confirmed: await commitOf(parts.find(({ section }) => section.start === one.start)?.commit),
      })),
  );
  const confirmed = await commitOf(confirmations.ofText({ path }, text));
  return [{ address: path, title: undefined, confirmed }, ...found];
}
