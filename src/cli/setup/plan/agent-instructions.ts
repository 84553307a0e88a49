import { MemoryError } from '../../../core/values/error.ts';
import { hasConflictMarkers } from '../../../core/yaml/yaml.ts';

const begin = '<!-- memory-bank: begin -->';
const end = '<!-- memory-bank: end -->';

const section = `${begin}
## Project memory

This project keeps its memory in \`.memory-bank/\`, served by the MCP server \`memory-bank\`. Every change is a git commit.

- Before you begin, search the memory for the subject (\`search_memory\`) and read the state of the work (\`Active_Context\`).
- When a decision is made whose reason others should know, call \`log_decision\`.
- When a piece of work is done, call \`track_progress\`. When tasks or open issues change, call \`update_active_context\`.
- When you learn a preference, correction or pattern, call \`memory_write\` at once.
- Never put credentials into the memory. Do not edit the files of \`.memory-bank/\` by hand.
${end}
`;

/**
 * A text for agents (AGENTS.md, CLAUDE.md) with the section about the memory, or without it.
 *
 * @throws MemoryError `damaged` when only one of the section's two marks is present, `conflict` when
 *   the text holds conflict markers: the section could hold one of them.
 */
export function editInstructions(text: string, wanted: boolean): string {
  if (hasConflictMarkers(text)) throw new MemoryError('conflict', 'it holds conflict markers');
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 !== to < 0 || to < from) {
    throw new MemoryError('damaged', `only one of "${begin}" and "${end}" is present`);
  }
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const own = section.replaceAll('\n', eol);
  if (from >= 0) {
    const after = text.slice(to + end.length).replace(/^\r?\n/, '');
    const before = text.slice(0, from);
    if (wanted) return before + own + after;
    const isOurs = after === '' || /\n\r?\n$/.test(before);
    return (isOurs ? before.replace(/\r?\n$/, '') : before) + after;
  }
  if (!wanted) return text;
  // Always one line end, whatever the text ends in, so that undo can remove it with the section.
  const gap = text === '' ? '' : eol;
  return text + gap + own;
}
