import type { JsonObject } from '../../src/core/values/json.ts';
import type { AnswerQuestion } from './answer-tally.ts';

/** A decision as an agent logs it. */
interface Decided {
  readonly title: string;
  readonly context: string;
  readonly decision: string;
  readonly alternatives?: readonly string[];
  readonly consequences?: readonly string[];
  readonly evidence?: readonly string[];
  readonly supersedes?: readonly string[];
}

/** The code that the decisions rest on. */
export const decidedSources: readonly (readonly [path: string, text: string])[] = [
  ['src/db.ts', 'export const file = "app.db";\nexport const mode = "wal";\n'],
  ['src/retry.ts', 'export const attempts = 4;\nexport const base = 250;\n'],
  ['src/auth.ts', 'export const lifetime = 900;\nexport const cookie = "sid";\n'],
];

/** Decisions with every combination of parts, in the order in which they were made. */
export const decided: readonly Decided[] = [
  {
    title: 'CSS framework',
    context: 'Three pages already have their own style sheets, and they drift apart.',
    decision: 'Tailwind, with the tokens of the design team as its theme.',
    alternatives: ['CSS modules', 'styled-components'],
    consequences: ['The build needs a pass over all templates'],
  },
  {
    title: 'Which database',
    context: 'One writer, a few thousand rows a day, and nobody who runs servers.',
    decision: 'SQLite in WAL mode, one file for each tenant.',
    alternatives: ['Postgres', 'DuckDB'],
    evidence: ['src/db.ts:1-2'],
  },
  {
    title: 'Session storage',
    context: 'Users lose their sign-in when a node restarts.',
    decision: 'Keep sessions in Redis with a lifetime of a day.',
    alternatives: ['Memory of the process'],
  },
  {
    title: 'Sign-in',
    context: 'Support answers forty mails a week about forgotten passwords.',
    decision: 'Passkeys, and a link by mail where a device has none.',
    alternatives: ['Passwords with a second factor', 'Only a link by mail'],
    consequences: ['Old browsers cannot sign in'],
    evidence: ['src/auth.ts:2'],
  },
  {
    title: 'Retries of the payment provider',
    context: 'The provider answers with 503 for some seconds when it deploys.',
    decision: 'Four attempts with exponential backoff from 250 ms; never after a 4xx.',
    alternatives: ['A queue with its own worker', 'No retry'],
    evidence: ['src/retry.ts:1-2'],
  },
  {
    title: 'Format of log lines',
    context: 'We search logs with jq and with a hosted service.',
    decision: 'One JSON object a line, with the key `at` in UTC.',
  },
  {
    title: 'Session storage without Redis',
    context: 'Redis was down twice, and with it every sign-in.',
    decision: 'A signed cookie of fifteen minutes, renewed on use; the server keeps nothing.',
    alternatives: ['A second Redis', 'Sessions in SQLite'],
    evidence: ['src/auth.ts:1-2'],
    supersedes: ['Session storage'],
  },
  {
    title: 'Names of branches',
    context: 'Release notes are made from merged branches.',
    decision: 'kind/ticket-subject, such as fix/412-empty-basket.',
    alternatives: ['Free names'],
  },
  {
    title: 'Dates in the API',
    context: 'Two clients guessed the time zone and were an hour off.',
    decision: 'RFC 3339 with an offset; a date without a time has the type `day`.',
    alternatives: ['Seconds since 1970', 'Local time'],
    consequences: ['Clients of version 1 need an adapter until June'],
  },
  {
    title: 'Pictures of products',
    context: 'The shop page weighs 9 MB on a phone.',
    decision: 'AVIF in three widths, made at upload; JPEG for clients that do not accept it.',
    alternatives: ['WebP', 'A service that converts on request'],
  },
  {
    title: 'Where secrets are kept',
    context: 'A key was in the history of a fork.',
    decision:
      'In the secret store of the cluster, mounted as files; `.env` only on a developer machine.',
    alternatives: ['Encrypted files in the repository', 'Variables of the CI'],
  },
  {
    title: 'Package manager',
    context: 'Installing takes four minutes on CI, most of it for copies of the same packages.',
    decision: 'pnpm with a frozen lock file.',
    alternatives: ['npm', 'yarn with plug and play'],
  },
  {
    title: 'Tests against a real database',
    context: 'A mock let a wrong join through.',
    decision: 'Each test gets a copy of a migrated file; the copy takes 4 ms.',
    alternatives: ['Mocks', 'A shared server with a transaction for each test'],
  },
  {
    title: 'Rate limits',
    context: 'A script of one customer slowed all the others down.',
    decision: '100 requests a minute for each key, counted in a sliding window.',
    alternatives: ['A token bucket', 'A limit for each address'],
  },
];

/** Fills a memory with the decisions, through the tool. */
export async function logAll(call: (tool: string, args: JsonObject) => Promise<unknown>) {
  for (const { title, context, decision, ...parts } of decided) {
    const lists = Object.entries(parts).map(([name, items]) => [name, [...items]] as const);
    await call('log_decision', { title, context, decision, ...Object.fromEntries(lists) });
  }
}

/** Questions about them: kind, question, the title of the decision, and texts that answer it. */
const questions: readonly (readonly [string, string, string, ...string[]])[] = [
  ['choice', 'CSS framework', 'CSS framework', 'Tailwind'],
  ['choice', 'which database', 'Which database', 'SQLite'],
  ['choice', 'which database do we use', 'Which database', 'SQLite'],
  ['choice', 'how do users sign in', 'Sign-in', 'Passkeys'],
  ['choice', 'how many attempts of a payment', 'Retries of the payment provider', 'Four attempts'],
  ['choice', 'how do we format logs', 'Format of log lines', 'JSON object'],
  ['choice', 'image format of products', 'Pictures of products', 'AVIF'],
  ['choice', 'where do secrets go', 'Where secrets are kept', 'secret store'],
  ['choice', 'package manager', 'Package manager', 'pnpm'],
  ['choice', 'how are branches named', 'Names of branches', 'kind/ticket'],
  ['choice', 'time format of the API', 'Dates in the API', 'RFC 3339'],
  ['current', 'where are sessions stored', 'Session storage without Redis', 'signed cookie'],
  ['current', 'session lifetime', 'Session storage without Redis', 'fifteen minutes'],
  [
    'reason',
    'why not Redis for sessions',
    'Session storage without Redis',
    'signed cookie',
    'down twice',
  ],
  ['reason', 'why passkeys', 'Sign-in', 'Passkeys', 'forgotten passwords'],
  [
    'reason',
    'why no mocks in tests',
    'Tests against a real database',
    'wrong join',
    'migrated file',
  ],
  ['reason', 'why a rate limit', 'Rate limits', '100 requests', 'slowed all'],
  ['reason', 'which clients guessed the time zone', 'Dates in the API', 'RFC 3339'],
  ['rejected', 'styled-components', 'CSS framework', 'Tailwind'],
  ['rejected', 'Postgres', 'Which database', 'SQLite'],
  ['rejected', 'DuckDB', 'Which database', 'SQLite'],
  ['rejected', 'token bucket', 'Rate limits', 'sliding window'],
  ['rejected', 'yarn', 'Package manager', 'pnpm'],
  ['rejected', 'WebP', 'Pictures of products', 'AVIF'],
  ['rejected', 'encrypted files in the repository', 'Where secrets are kept', 'secret store'],
  ['rejected', 'seconds since 1970', 'Dates in the API', 'RFC 3339'],
  ['identifier', 'src/retry.ts', 'Retries of the payment provider', 'Four attempts'],
  ['identifier', 'fix/412-empty-basket', 'Names of branches', 'fix/412-empty-basket'],
  ['title', 'Tests against a real database', 'Tests against a real database', 'migrated file'],
  ['title', 'Rate limits', 'Rate limits', 'sliding window'],
  ['title', 'Sign-in', 'Sign-in', 'Passkeys'],
  ['title', 'Session storage without Redis', 'Session storage without Redis', 'signed cookie'],
  ['other words', 'backoff after a 503', 'Retries of the payment provider', 'exponential backoff'],
  ['other words', 'old browsers', 'Sign-in', 'Passkeys'],
];

export const decidedQuestions: readonly AnswerQuestion[] = questions.map(
  ([kind, question, section, ...answers]) => ({
    kind,
    question,
    answers,
    at: [{ path: 'decisionLog.md', section }],
  }),
);
