import type { BankName } from './bank.ts';
import type { BankType } from './bank-type.ts';

/** The files of a new bank and their headings (seed 001); a null title means the bank's id. */
const outlines: {
  readonly [type in BankType]: {
    readonly [file: string]: readonly [title: string | null, ...sections: string[]];
  };
} = {
  global: {
    'context.md': ['Context', 'Themes', 'Facts', 'Open questions'],
    'preferences.md': [
      'Preferences',
      'Answers',
      'Ways of working',
      'Tools and formats',
      'To avoid',
    ],
    'references.md': ['References', 'Links', 'Documents', 'People and places'],
  },
  project: {
    'readme.md': [null, 'Purpose', 'Goals', 'Scope', 'People'],
    'doc/architecture.md': ['Architecture', 'Overview', 'Components', 'Decisions', 'Constraints'],
    'doc/design.md': ['Design', 'Principles', 'Patterns', 'Interfaces', 'Open questions'],
    'doc/progress.md': ['Progress', 'Current state', 'Done', 'Next steps', 'Blockers'],
    'tasks.md': ['Tasks', 'Active', 'Next', 'Done'],
  },
  code: {
    'readme.md': [null, 'Purpose', 'Setup', 'Commands', 'Conventions', 'Sources'],
    'doc/architecture.md': ['Architecture', 'Overview', 'Components', 'Decisions', 'Dependencies'],
    'doc/design.md': ['Design', 'Patterns', 'Error handling', 'Testing', 'Trade-offs'],
    'doc/api.md': ['API', 'Interfaces', 'Data', 'Compatibility'],
    'structure.md': ['Structure', 'Folders', 'Entry points', 'Configuration', 'Generated files'],
    'snippets.md': ['Snippets', 'Examples', 'Idioms', 'Pitfalls'],
  },
};

/** The document that describes a bank; in a code bank it also lists the sources. */
export const mainFile = { global: 'context.md', project: 'readme.md', code: 'readme.md' } as const;

/** The heading of the list of repository files in a code bank. */
export const sourcesHeading = 'Sources';

/** Makes the documents of a new bank, by file name. */
export function defaultFiles(
  { type, id }: BankName,
  sources: readonly string[],
): Map<string, string> {
  return new Map(
    Object.entries(outlines[type]).map(([file, [title, ...sections]]) => {
      const blocks = [`# ${title ?? id}`];
      for (const section of sections) {
        blocks.push(`## ${section}`);
        if (section === sourcesHeading && sources.length > 0) {
          blocks.push(sources.map((source) => `- \`${source}\``).join('\n'));
        }
      }
      return [file, `${blocks.join('\n\n')}\n`];
    }),
  );
}
