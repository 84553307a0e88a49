import type { Tool } from '../../core/declarations/tool.ts';

/** Returns a tool as `tools/list` shows it, without its schema. */
export function toListing(tool: Tool) {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    annotations: hints(tool),
    ...(tool.meta && { _meta: tool.meta }),
  };
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
