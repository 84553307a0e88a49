import type { Tool } from '../../core/declarations/tool.ts';

/** Returns a tool as `tools/list` shows it, without its schema. */
export function toListing(tool: Tool) {
  // A client without a title shows the name.
  const isNamed = wordsOf(tool.title) === wordsOf(tool.name);
  return {
    name: tool.name,
    ...(!isNamed && { title: tool.title }),
    description: tool.description,
    annotations: hints(tool),
    ...(tool.meta && { _meta: tool.meta }),
  };
}

function wordsOf(text: string): string {
  const words = text.toLowerCase().split(/[^a-z]+/);
  return words.filter((word) => !/^(?:|an?|the|of)$/.test(word)).join(' ');
}

/** Returns the annotations that differ from the defaults of the protocol. */
function hints({ effect, idempotent, openWorld }: Tool) {
  if (effect === 'read') return { readOnlyHint: true, openWorldHint: false };
  return {
    destructiveHint: effect === 'destroy',
    ...(idempotent && { idempotentHint: true }),
    ...(!openWorld && { openWorldHint: false }),
  };
}
