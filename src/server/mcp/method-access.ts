/**
 * The access of each method of MCP to the memory, in both eras: `read`, or that of the called tool.
 *
 * A client of MCP is an agent in every case, whatever its credentials: its changes wait for a review
 * where the memory requires one, and no method decides on reviews.
 */
export const methodAccess = {
  initialize: 'read',
  ping: 'read',
  'logging/setLevel': 'read',
  'server/discover': 'read',
  'tools/list': 'read',
  'tools/call': 'tool',
  'resources/list': 'read',
  'resources/templates/list': 'read',
  'resources/read': 'read',
  'resources/subscribe': 'read',
  'resources/unsubscribe': 'read',
  'prompts/list': 'read',
  'prompts/get': 'read',
  'skills/list': 'read',
  'skills/get': 'read',
  'subscriptions/listen': 'read',
  'memory-bank/project': 'read',
} as const;

/** The methods of a server; one that the table does not have does not compile. */
export type Methods<M> = { readonly [method in keyof typeof methodAccess]?: M };
