import { head } from './layout.ts';

/**
 * Elements that clients put into the text of a prompt, next to what the user has written.
 *
 * Gemini CLI sends the context that hooks have added; Claude Code reminders, the selection of an editor
 * and the output of its own commands; Codex, Cline and the editors their surroundings and instructions.
 */
const elements = [
  'hook_context',
  'system-reminder',
  'ide_selection',
  'ide_opened_file',
  'command-message',
  'local-command-stdout',
  'local-command-caveat',
  'environment_context',
  'environment_details',
  'user_instructions',
  'attachments',
  'attached_files',
  'additional_data',
  'reminderInstructions',
];
const opening = new RegExp(`<(${elements.join('|')})(?:\\s[^<>]*)?>`, 'g');

/** Returns a prompt without briefs and without the elements of clients; one without an end stays. */
export function withoutClientContext(text: string): string {
  const prompt = withoutBriefs(text);
  if (!prompt.includes('</')) return prompt;
  const kept: string[] = [];
  const unclosed = new Set<string>();
  let at = 0;
  opening.lastIndex = 0;
  for (let found = opening.exec(prompt); found; found = opening.exec(prompt)) {
    const [, name = ''] = found;
    if (unclosed.has(name)) continue;
    const closing = `</${name}>`;
    const end = prompt.indexOf(closing, opening.lastIndex);
    if (end < 0) {
      // Otherwise each of many openings would read the rest of a long text.
      unclosed.add(name);
      continue;
    }
    kept.push(prompt.slice(at, found.index));
    at = end + closing.length;
    opening.lastIndex = at;
  }
  return [...kept, prompt.slice(at)].join(' ');
}

/** The lines of a brief after the first one. */
const briefLine = /^(?:- |## |More: |\s*$)/;

/** A brief in a prompt names records that the session has. */
function withoutBriefs(prompt: string): string {
  if (!prompt.includes(head)) return prompt;
  let isBrief = false;
  const kept = prompt.split('\n').filter((line) => {
    isBrief = line.startsWith(head) || (isBrief && briefLine.test(line));
    return !isBrief;
  });
  return kept.join('\n');
}
