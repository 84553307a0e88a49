import * as z from 'zod';
import { type Context, timestamp } from '../../core/declarations/context.ts';
import { defineTool } from '../../core/declarations/tool.ts';
import { appendSection, insertInSection } from '../../core/markdown/sections.ts';
import { afterCommit } from '../../core/memory/after-commit.ts';
import { similarField } from '../../core/memory/hit-form.ts';
import type { Located } from '../../core/memory/listing.ts';
import type { Provenance, Transaction } from '../../core/memory/store.ts';
import { fileNameProblem, foldName } from '../../core/names/file-name.ts';
import { inFile, invalid } from '../../core/values/error.ts';
import type { JsonObject } from '../../core/values/json.ts';
import {
  type Bank,
  bankId,
  bankName,
  bankType,
  label,
  oneLine,
  openBank,
  storeOf,
  trueName,
} from './bank.ts';
import { textsOf } from './bank-activation.ts';
import { type BankDocument, bankDocument, frontMatter, serverKeys } from './bank-document.ts';
import { SummaryCache } from './cache.ts';
import { countUpdate, nextUpdate, noteUse, statusInSession } from './conversation.ts';
import { triggers, verification } from './custom-instructions.ts';
import { followUps } from './follow-up.ts';
import { relevance } from './summary-relevance.ts';
import { readSources } from './summary-sources.ts';

const input = z.object({
  bank_type: bankType,
  bank_id: bankId,
  target_file: z.string().max(300).describe("A .md file of the bank: 'doc/design.md'"),
  operation: z.enum(['append', 'replace', 'insert']),
  content: z.string().describe('Markdown, without front matter'),
  position: oneLine.max(300).optional().describe('insert: heading of the section'),
  trigger_type: z.enum(triggers).optional(),
  conversation_id: oneLine.min(1).max(200).optional(),
  update_count: z.int().min(0).max(1_000_000_000).optional(),
});

type Arguments = z.output<typeof input>;

/** Writes to one document of a bank (seed 001, `update`). */
export const update = defineTool({
  name: 'update',
  title: 'Update a memory bank',
  description:
    'Write to a file of a bank: append to it, insert into a section, or replace it. Use after each response with something worth keeping.',
  effect: 'write',
  input,
  meta: {
    use_when: 'The conversation produced something that the next one should know',
    pairs_with: ['activate'],
    examples: [
      {
        bank_type: 'code',
        bank_id: 'my-repo',
        target_file: 'doc/architecture.md',
        operation: 'insert',
        position: 'Decisions',
        content: '- Use SQLite for the index: one file, no server.',
        trigger_type: 'architecture',
      },
    ],
  },
  async handle(context, args) {
    const name = bankName(args);
    check(args);
    const store = await storeOf(context, name.type);
    if (statusInSession(context, name).temporary) {
      return answer(args, 'skipped', {
        next_actions: [`The ${label(name)} is open for reading only; activate it to write to it.`],
      });
    }
    const next = nextUpdate(context, args);
    const proof = verification(next.count, next.conversation);
    const { changed, bank } = await store.change(provenance(args, proof), (transaction) =>
      write(context, transaction, args),
    );
    countUpdate(context, next);
    await noteUse(context, bank);
    const similar = async () => (changed ? await store.similar(bankDocument, changed) : []);
    return answer(args, 'success', {
      ...(changed && (await afterCommit(context, () => updateSummaries(context, bank), notCached))),
      verification: proof,
      next_actions: followUps(bank, { ...args, file: args.target_file }),
      ...similarField(await afterCommit(context, similar, [])),
    });
  },
});

const notCached = { cache_updated: false, cache_optimized: false };

/** Updates the cached summaries of a bank; see `SummaryCache.rebuild`. */
async function updateSummaries(context: Context, bank: Bank) {
  const texts = textsOf(bank, await readSources(context, bank));
  const cache = await SummaryCache.open(context, bank, texts);
  const result = await cache.rebuild();
  cache.refine();
  return result;
}

/** Validates what the schema cannot express. */
function check({ target_file, operation, position, content }: Arguments): void {
  const problem = fileNameProblem(target_file);
  if (problem !== undefined) throw invalid(['target_file'], problem);
  if (operation === 'insert' && (position === undefined || position.trim() === '')) {
    throw invalid(['position'], 'is required to insert: the heading of a section', 'missing');
  }
  const head = frontMatter(content)?.split('\n') ?? [];
  const key = serverKeys.find((name) => head.some((line) => line.startsWith(`${name}:`)));
  if (key !== undefined) {
    throw invalid(['content'], `must not set ${key}: the server keeps the front matter`);
  }
}

/** The bank after an update, read before the commit, because a failure after it must not look like one. */
interface Written {
  readonly bank: Bank;
  /** Undefined for an equal text, which is not written. */
  readonly changed: Located<BankDocument> | undefined;
}

async function write(
  context: Context,
  transaction: Transaction,
  args: Arguments,
): Promise<Written> {
  const bank = await openBank(transaction, bankName(args));
  checkClash(bank, args.target_file);
  const key = `${bank.folder}/${args.target_file}`;
  const found = await transaction.get(bankDocument, key);
  const before = found?.value ?? { key, body: '', ...trueName(bank) };
  const body = inFile(found?.path ?? args.target_file, () => edited(before.body, args));
  if (found && body === before.body) return { bank, changed: undefined };
  const changed = await transaction.put(bankDocument, {
    ...before,
    last_updated: timestamp(context.now()),
    version: (before.version ?? 0) + 1,
    relevance_score: relevance(before.relevance_score, args.trigger_type),
    body,
  });
  return { bank: await openBank(transaction, bankName(args)), changed };
}

function edited(text: string, { operation, content, position = '' }: Arguments): string {
  switch (operation) {
    case 'replace':
      return content;
    case 'append':
      return appendSection(text, content);
    case 'insert':
      // Models often send the heading with its marks.
      return insertInSection(text, position.trim().replace(/^#{1,6}[ \t]+/, ''), content);
  }
}

/**
 * Refuses a name that some file systems cannot keep next to the existing ones.
 *
 * @throws MemoryError `invalid_input`.
 */
function checkClash(bank: Bank, file: string): void {
  for (const other of bank.files) {
    if (other.file === file) continue;
    const [given, existing] = [foldName(file), foldName(other.file)];
    if (given === existing) {
      throw invalid(['target_file'], `clashes with "${other.file}": use that name`);
    }
    if (given.startsWith(`${existing}/`) || existing.startsWith(`${given}/`)) {
      throw invalid(['target_file'], `clashes with "${other.file}": one of them would be a folder`);
    }
  }
}

/** Describes the commit of an update; the proof is in its message only, never in the document. */
function provenance(args: Arguments, proof: string): Provenance {
  return {
    subject: `update ${args.target_file} of ${label(bankName(args))}`,
    reason: proof,
    ...(args.trigger_type ? { trailers: { Trigger: args.trigger_type } } : {}),
  };
}

function answer(args: Arguments, status: 'success' | 'skipped', rest: JsonObject): JsonObject {
  return {
    status,
    updated_file: args.target_file,
    operation: args.operation,
    cache_updated: false,
    cache_optimized: false,
    verification: '',
    ...rest,
  };
}
