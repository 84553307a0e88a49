import { counted } from '../../core/answers/painter.ts';
import type { ProposedEntry } from '../../core/memory/proposed-entry.ts';
import type { Session } from '../../core/memory/session.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Invocation } from '../line/command.ts';
import { question } from '../line/prompt.ts';
import { showResult } from '../line/result.ts';
import type { Screen } from '../screen/terminal.ts';
import { chosenNumbers } from './chosen-numbers.ts';
import { clientMemories } from './client/client-memories.ts';

/** The name of the review in which chosen entries wait. */
const reviewName = 'proposals';

type CallOptions = Parameters<Invocation['app']['run']>[2];

/** A proposed entry with its number, which stays when others are taken. */
export interface NumberedEntry extends ProposedEntry {
  readonly number: number;
}

/** The entries that a project proposes, in one session of a command. */
export class ProjectProposals {
  readonly #invocation: Invocation;
  readonly #session: Session;
  readonly #call: CallOptions;
  /** Those that neither the memory nor the review has. */
  readonly open: readonly NumberedEntry[];
  /** The highest number. */
  readonly #count: number;

  private constructor(
    at: readonly [Invocation, Session, CallOptions],
    open: readonly NumberedEntry[],
    count: number,
  ) {
    [this.#invocation, this.#session, this.#call] = at;
    [this.open, this.#count] = [open, count];
  }

  static async find(
    invocation: Invocation,
    session: Session,
    call: CallOptions,
  ): Promise<ProjectProposals> {
    const { app, options } = invocation;
    const found = await app.run(session, 'propose', call, async ({ project }) => {
      const { root } = await project.info();
      return project.proposals(clientMemories(options.place.home, root));
    });
    const waiting = app.connect({ review: reviewName });
    waiting.agent = session.agent;
    const known = new Set([
      ...(await knownKeys(app, session, call)),
      ...(await knownKeys(app, waiting, call)),
    ]);
    const open = found.flatMap((one, i) =>
      known.has(`${one.category}/${one.key}`) ? [] : [{ ...one, number: i + 1 }],
    );
    return new ProjectProposals([invocation, session, call], open, found.length);
  }

  /** Lists the entries for a person. */
  lines(screen: Screen): string[] {
    const lines: string[] = [];
    let last: string | undefined;
    for (const { number, kind, value, source } of this.open) {
      if (kind !== last) lines.push(screen.paint('title', kind));
      last = kind;
      const [first = '', ...rest] = value.split('\n');
      lines.push(
        `${String(number).padStart(3)}  ${screen.plain(first)}`,
        ...rest.map((line) => `     ${screen.plain(line)}`),
        `     ${screen.paint('faint', screen.plain(source))}`,
      );
    }
    return lines;
  }

  /** Asks which entries are wanted, and puts them into the review. */
  async ask(): Promise<number> {
    const given = await question('Put which of them into a review (1 3-5, all; empty: none)? ');
    return this.take([given]);
  }

  /**
   * Puts entries into the review, each with a commit of its own, and shows what waits then.
   *
   * @param given numbers, ranges of them, or `all`.
   * @returns the exit status.
   * @throws MemoryError `invalid_input` for a number that no entry has; then nothing is written.
   */
  async take(given: readonly string[]): Promise<number> {
    const numbers = new Set(chosenNumbers(given, this.#count));
    const chosen = this.open.filter(({ number }) => numbers.has(number));
    const taken: string[] = [];
    const left: { key: string; reason: string }[] = [];
    if (chosen.length > 0) await this.#begin();
    const inside = this.#reviewSession();
    for (const { category, key, value, reason, source, evidence } of chosen) {
      const args = {
        ...{ category, key, value, context: `Found in ${source}.`, confirm: true },
        ...(reason !== undefined && { reason }),
        ...(evidence.length > 0 && { evidence: [...evidence] }),
      };
      const reply = await this.#invocation.app.call(inside, 'memory_write', args, this.#call);
      if (reply?.error === undefined) taken.push(key);
      else left.push({ key, reason: reply.text ?? reply.error });
    }
    const { values } = this.#invocation;
    await showResult(values, { taken, left, review: reviewName }, (screen) => [
      ...left.map((one) =>
        screen.paint('bad', screen.plain(`left out: ${one.key}: ${one.reason}`)),
      ),
      ...(taken.length === 0
        ? ['Nothing was written.']
        : [
            screen.paint('good', `Waiting for your review: ${counted(taken.length, 'entry')}.`),
            `"memory-bank review show ${reviewName}" shows them, "memory-bank review accept ${reviewName}" accepts them.`,
          ]),
    ]);
    return left.length > 0 && taken.length === 0 ? 1 : 0;
  }

  /** Makes the first commit of the memory, on which a review is based. */
  async #begin(): Promise<void> {
    const { app } = this.#invocation;
    await app.run(this.#session, 'propose', this.#call, ({ project }) => project.initialize());
  }

  #reviewSession(): Session {
    const { app, version } = this.#invocation;
    const session = app.connect({ review: reviewName, beginsReview: true });
    session.agent = `memory-bank-propose/${version}`;
    return session;
  }
}

/** The category and key of each entry that a session sees; none if its review does not exist yet. */
async function knownKeys(
  app: Invocation['app'],
  session: Session,
  call: CallOptions,
): Promise<string[]> {
  const reply = await app.call(session, 'memory_read', { limit: 100_000 }, call);
  if (reply?.error !== undefined && reply.error !== 'not_found') {
    throw new MemoryError(reply.error, reply.text ?? 'The memory cannot be read.');
  }
  const { entries = [] } = Object(reply?.body);
  return Array.isArray(entries)
    ? entries.map((one) => `${Object(one).category}/${Object(one).key}`)
    : [];
}
