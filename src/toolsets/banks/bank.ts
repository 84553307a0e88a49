import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import type { Damaged, Located } from '../../core/memory/listing.ts';
import type { Reader, Store } from '../../core/memory/store.ts';
import { encodeName, fileNames } from '../../core/names/name.ts';
import { MemoryError } from '../../core/values/error.ts';
import { type BankDocument, bankDocument } from './bank-document.ts';
import { type BankType, bankTypes, folders } from './bank-type.ts';

/** Text without control characters, for the subject of a commit or a heading. */
export const oneLine = z
  .string()
  .refine(
    (text) => !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text),
    'must not contain control characters',
  );

/** `bank_type` of every tool. */
export const bankType = z.enum(bankTypes);

/** `bank_id` of every tool: 1 to 100 characters of free text that is not a path. */
export const bankId = oneLine
  .min(1)
  .max(100)
  .refine((id) => !/[/\\]/.test(id) && id !== '.' && id !== '..', 'must be a name, not a path')
  .refine((id) => id.trim() === id, 'must not begin or end with a space');

/** The type and id that identify a bank. */
export interface BankName {
  readonly type: BankType;
  readonly id: string;
}

/** Reads the name of a bank from the arguments of a tool. */
export function bankName(args: { bank_type: BankType; bank_id: string }): BankName {
  return { type: args.bank_type, id: args.bank_id };
}

/** A document with its name in the bank. */
export interface BankDocumentFile extends Located<BankDocument> {
  /** `doc/api.md` */
  readonly file: string;
}

/** A bank as it is on disk. */
export interface Bank extends BankName {
  /** Below `banks/`: `code/my-repo`. */
  readonly folder: string;
  /** Sorted by name. */
  readonly files: readonly BankDocumentFile[];
  readonly damaged: readonly Damaged[];
}

/** Returns the store with the banks of a type: global banks belong to the user. */
export async function storeOf(context: Context, type: BankType): Promise<Store> {
  return type === 'global' ? context.home() : context.store;
}

/** Returns the first folder for a bank that no other bank has: a readable one, or one with a hash. */
export async function newFolder(reader: Reader, name: BankName): Promise<string> {
  const possible = possibleFolders(name);
  for (const folder of possible) {
    if ((await banksBelow(reader, name.type, folder)).length === 0) return folder;
  }
  throw new MemoryError('already_exists', `Other banks have the folders ${possible.join(', ')}.`, {
    hint: 'Rename one of these folders.',
  });
}

/**
 * Returns the bank with this name, or undefined.
 *
 * It looks into the folders that the server would create, then into folders that a person created.
 */
export async function findBank(reader: Reader, name: BankName): Promise<Bank | undefined> {
  for (const folder of possibleFolders(name)) {
    const [bank] = await banksBelow(reader, name.type, folder);
    // An encoded name means one id, even if no document says so.
    const isOwn = !folder.endsWith(`/${name.id}`) && folder.endsWith(`/${encodeName(name.id)}`);
    if (bank && (isOwn || bank.id === name.id)) return { ...bank, id: name.id };
  }
  return (await listBanks(reader, name.type)).find((bank) => bank.id === name.id);
}

function possibleFolders({ type, id }: BankName): string[] {
  return fileNames(id).map((folder) => `${folders[type]}/${folder}`);
}

/**
 * Returns the bank with this name.
 *
 * @throws MemoryError `not_found` that names the existing banks of this type.
 */
export async function openBank(reader: Reader, name: BankName): Promise<Bank> {
  const bank = await findBank(reader, name);
  if (bank) return bank;
  const ids = (await listBanks(reader, name.type)).map(({ id }) => `"${id}"`);
  throw new MemoryError('not_found', `There is no ${label(name)}.`, {
    hint: `${ids.length > 0 ? `Existing banks: ${ids.slice(0, 10).join(', ')}. ` : ''}\`activate\` creates a new bank.`,
    data: { bank_type: name.type, bank_id: name.id },
  });
}

/** Lists the banks of a type, sorted by folder. */
export async function listBanks(reader: Reader, type: BankType): Promise<Bank[]> {
  return banksBelow(reader, type, folders[type]);
}

/** Returns the front matter with the id of a bank, if the folder has another name. */
export function trueName({ folder, id }: { folder: string; id: string }): { bank?: string } {
  return folder.endsWith(`/${id}`) ? {} : { bank: id };
}

/** Describes a bank in words: `code bank "my-repo"`. */
export function label({ type, id }: BankName): string {
  return `${type} bank "${id}"`;
}

async function banksBelow(reader: Reader, type: BankType, under: string): Promise<Bank[]> {
  const { records, damaged } = await reader.list(bankDocument, { under });
  const found = new Map<string, { files: BankDocumentFile[]; damaged: Damaged[] }>();
  const at = (path: string) => {
    const [root, name, ...rest] = path.split('/').slice(1);
    if (root === undefined || name === undefined || rest.length === 0) return undefined;
    const folder = `${root}/${name}`;
    const bank = found.get(folder) ?? { files: [], damaged: [] };
    found.set(folder, bank);
    return { bank, file: rest.join('/') };
  };
  for (const record of records) {
    const place = at(record.path);
    place?.bank.files.push({ ...record, file: place.file });
  }
  for (const entry of damaged) at(entry.path)?.bank.damaged.push(entry);
  return [...found].map(([folder, bank]) => ({
    type,
    id: idOf(folder, bank.files),
    folder,
    ...bank,
  }));
}

/** Returns the id from the front matter that fits the folder, or else the folder's name. */
function idOf(folder: string, files: readonly BankDocumentFile[]): string {
  const name = folder.slice(folder.indexOf('/') + 1);
  const ids = files.flatMap(({ value }) => value.bank ?? []);
  return ids.find((id) => fileNames(id).includes(name)) ?? name;
}
