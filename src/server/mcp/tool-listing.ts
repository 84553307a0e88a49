import type { Tool } from '../../core/tool.ts';

/** A tool as `tools/list` shows it, without its schema. */
export function toListing(tool: Tool) {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    annotations: hints(tool),
    ...(tool.meta && { _meta: tool.meta }),
  };
}

/** What calling it can do, where that is not what the protocol assumes of a tool that says nothing. */
function hints({ effect, idempotent, openWorld }: Tool) {
  if (effect === 'read') return { readOnlyHint: true, openWorldHint: false };
  return {
    destructiveHint: effect === 'destroy',
    ...(idempotent && { idempotentHint: true }),
    ...(!openWorld && { openWorldHint: false }),
  };
}
