import type { JsonObject } from '../../core/values/json.ts';
import type { BankName } from './bank.ts';
import type { BankType } from './bank-type.ts';
import { defaultFiles } from './template.ts';

/** Reasons for an update: the values of `trigger_type`. */
export const triggers = [
  'watchdog',
  'architecture',
  'technology',
  'progress',
  'commit',
  'user_request',
] as const;

export type Trigger = (typeof triggers)[number];

/** Makes the proof that an update was made; the examples use it with two placeholders. */
export function verification(count: number | string, conversation: string): string {
  return `// Update #${count} for conversation ${conversation}`;
}

/** Number of days without an update after which a bank may be out of date. */
const staleDays = 30;

/** The state of a bank that its instructions depend on. */
export interface BankState extends BankName {
  readonly files: readonly string[];
  readonly temporary: boolean;
  /** Whether it contains only headings. */
  readonly empty: boolean;
  /** Whether the answer contains summaries instead of some documents. */
  readonly large: boolean;
  /** Whole days since it was last written. */
  readonly days: number;
  /** How far the code has moved since the bank was written. */
  readonly moved: { readonly commits: number; readonly doubtful: readonly string[] } | undefined;
}

/** An instruction to write to the bank. */
interface Directive extends JsonObject {
  readonly name: string;
  readonly priority: 'SYSTEM CRITICAL' | 'HIGH' | 'MEDIUM';
  readonly when: string;
  readonly action: string;
  readonly trigger_type: Trigger;
  readonly patterns?: string[];
}

const watchdog: Directive = {
  name: 'WATCHDOG',
  priority: 'SYSTEM CRITICAL',
  when: 'After every response',
  action: 'Call update tool with what the response settled; if nothing, do not call it',
  trigger_type: 'watchdog',
};

const request: Directive = {
  name: 'USER_REQUEST',
  priority: 'HIGH',
  when: 'When the user asks for it in words like these',
  action: 'Call update tool at once',
  trigger_type: 'user_request',
  patterns: ['update memory bank', 'remember this', 'note that', 'forget that'],
};

const architecture: Directive = {
  name: 'ARCHITECTURE_TRACKING',
  priority: 'HIGH',
  when: 'When an architecture decision is made',
  action: 'Insert decision, reason and rejected choices into doc/architecture.md at "Decisions"',
  trigger_type: 'architecture',
  patterns: ['decided to use', 'implement pattern', 'architecture will be', 'instead of'],
};

const progress: Directive = {
  name: 'PROGRESS_TRACKING',
  priority: 'HIGH',
  when: 'When work is started, finished, blocked or planned',
  action: 'Bring doc/progress.md and tasks.md up to date',
  trigger_type: 'progress',
  patterns: ['is done', 'next step', 'blocked by', 'the deadline'],
};

const technology: Directive = {
  name: 'TECHNOLOGY_TRACKING',
  priority: 'HIGH',
  when: 'When a library, service or version is chosen or dropped',
  action: 'Insert it with its reason into doc/architecture.md at "Dependencies"',
  trigger_type: 'technology',
  patterns: ['switch to', 'upgrade', 'add a dependency', 'replace with'],
};

const commit: Directive = {
  name: 'COMMIT_TRACKING',
  priority: 'MEDIUM',
  when: 'When a commit or its message is discussed',
  action: 'Record what the commit changes before it is made',
  trigger_type: 'commit',
  patterns: ['commit message', 'git commit', 'pull request'],
};

const preference: Directive = {
  name: 'PREFERENCE_TRACKING',
  priority: 'HIGH',
  when: 'When the user states a wish, a habit or a fact that also matters later',
  action: 'Insert it into preferences.md, or a link or name into references.md',
  trigger_type: 'watchdog',
  patterns: ['I prefer', 'from now on', 'always use', 'never use', 'my name is'],
};

/** The instructions that differ between the types of bank. */
const guides: {
  readonly [type in BankType]: {
    readonly directives: readonly Directive[];
    readonly role: string;
    readonly triggerPatterns: readonly string[];
    readonly example: JsonObject;
  };
} = {
  global: {
    directives: [watchdog, preference, request],
    role: 'This bank is the memory of the user that you talk to. Use what it says about them, their wishes and their references without asking again; what they say now takes precedence.',
    triggerPatterns: ['I prefer [way]', 'From now on [rule]', 'Remember [fact]'],
    example: {
      target_file: 'preferences.md',
      position: 'Answers',
      content: '- Short, examples first.',
    },
  },
  project: {
    directives: [watchdog, architecture, progress, commit, request],
    role: 'You help with the project that this bank describes. Use it to discuss goals, design, decisions, progress and tasks, and say where a wish contradicts a recorded decision.',
    triggerPatterns: ['We decided to [choice]', '[Task] is done', 'Next we will [step]'],
    example: {
      target_file: 'doc/progress.md',
      position: 'Next steps',
      content: '- Load-test the importer before the release.',
    },
  },
  code: {
    directives: [watchdog, architecture, technology, commit, request],
    role: 'You are a coding assistant with the memory of this repository. Use it to discuss architecture, design patterns, interfaces and how things are built. If the bank and the code differ, trust the code and correct the bank.',
    triggerPatterns: [
      'We decided to use [technology]',
      "We're implementing [pattern]",
      'The API of [module] is now [shape]',
    ],
    example: {
      target_file: 'doc/architecture.md',
      position: 'Decisions',
      content: '- Use SQLite for the index: one file, no server. Rejected: LMDB (no full text).',
    },
  },
};

/**
 * Makes the instructions for keeping a bank up to date: directives, prompts and examples.
 *
 * They depend on the type and state of the bank, and take at most 4,000 bytes.
 */
export function customInstructions(state: BankState): JsonObject {
  const guide = guides[state.type];
  const role = {
    id: `${state.type}_default`,
    use_when: 'From the first reply on',
    pairs_with: [...defaultFiles(state, []).keys()].filter((file) => state.files.includes(file)),
    text: [guide.role, ...conditions(state)].join('\n'),
  };
  if (state.temporary) return { directives: [], prompts: [role], examples: {} };
  return {
    directives: [...guide.directives],
    prompts: [
      role,
      {
        id: 'memory_bank_automation',
        use_when: 'Throughout the conversation',
        pairs_with: ['update'],
        text: automation(state),
      },
    ],
    examples: {
      trigger_patterns: [...guide.triggerPatterns],
      update: { bank_type: state.type, bank_id: state.id, operation: 'insert', ...guide.example },
      verification: verification('[N]', '[id]'),
    },
  };
}

/** Returns the instructions that the state of the bank requires. */
function conditions(state: BankState): string[] {
  const lines: string[] = [];
  if (state.temporary) {
    lines.push(
      'This bank is open for reading only: update changes nothing in it until you activate it.',
    );
  }
  if (state.empty && !state.temporary) {
    lines.push(
      'The bank is new and empty. Fill in what you learn during the conversation, starting with ' +
        (state.type === 'global'
          ? 'context.md.'
          : 'readme.md; ask for the purpose if it is unclear.'),
    );
  }
  const { commits = 0, doubtful = [] } = state.moved ?? {};
  if (commits > 0 && !state.empty) {
    const names = doubtful.slice(0, 3).map((file) => file.slice(0, 60));
    lines.push(
      `The code has moved by ${commits} commit${commits === 1 ? '' : 's'} since the bank was written. Check it against the code before you rely on it` +
        (names.length > 0 ? `, starting with ${names.join(', ')}.` : '.'),
    );
  }
  if (commits === 0 && state.days >= staleDays && !state.empty) {
    lines.push(
      `The bank was last written ${state.days} days ago. Ask whether it is still correct before you build on it.`,
    );
  }
  if (state.large) {
    lines.push(
      'The bank is large: some documents are only summarised. Read a document whole before you replace it, and replace outdated text rather than add more.',
    );
  }
  return lines;
}

function automation({ type }: BankName): string {
  return `# Keeping the ${type} bank up to date

## 🔴 SYSTEM CRITICAL DIRECTIVES

0. **🔴 WATCHDOG: UPDATE AFTER EACH RESPONSE**
   \`\`\`
   WHEN: right after EVERY response
   PRIORITY: SYSTEM CRITICAL (HIGHEST)
   ACTION: CALL update WITH what is new; if nothing is, do not call it
   \`\`\`
1. **Only what lasts**: decisions with their reasons, facts, state, open questions. No chatter, no secrets.
2. **Smallest change**: insert at a heading; append a new topic; replace only a document that you have read whole.
3. **Verify**: an update succeeded if its answer contains \`${verification('[N]', '[id]')}\`. Then do its next_actions where they apply.
4. **Pending**: if an update is due and cannot be made, end the reply with "⏳ memory update pending".
5. **Elsewhere**: when the conversation moves to another ${type === 'global' ? 'context' : 'project'}, swap; to choose a bank, list.`;
}
