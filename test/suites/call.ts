import type { Context } from '../../src/core/declarations/context.ts';
import type { Toolset } from '../../src/core/declarations/toolset.ts';
import type { JsonObject } from '../../src/core/values/json.ts';
import { callTool } from '../support/context.ts';
import fc from '../support/fc.ts';

/** Calls a tool by name and gives the wire body: on a context, or through a server. */
export type Call = (tool: string, args?: unknown) => ReturnType<typeof callTool>;

/** Calls the tools of a toolset on one context. */
export function callsOf(toolset: Toolset, context: Context): Call {
  return (tool, args) => callTool(toolset, context, tool, args);
}

/** A random call of a tool, and how its answer follows from the model and changes it. */
export function command<Model extends object, Args extends object>(
  tool: string,
  args: fc.Arbitrary<Args>,
  agree: (model: Model, args: Args, body: JsonObject) => void,
): fc.Arbitrary<fc.AsyncCommand<Model, Call>> {
  return args.map((given) => ({
    check: () => true,
    async run(model, call) {
      agree(model, given, (await call(tool, given)).body);
    },
    toString: () => `${tool} ${JSON.stringify(given)}`,
  }));
}

/** Runs random calls on a new memory and compares it with the model after each, and once more at the end. */
export async function agreesWithModel<Model extends object>(
  commands: fc.Arbitrary<fc.AsyncCommand<Model, Call>>[],
  runs: number,
  setup: () => Promise<{ model: Model; real: Call }>,
  last: (model: Model, call: Call) => Promise<void>,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 20 }), async (calls) => {
      const started = await setup();
      await fc.asyncModelRun(() => started, calls);
      await last(started.model, started.real);
    }),
    { numRuns: runs },
  );
}
