import { redactText } from '../../app/app.ts';
import { findRoot } from '../../app/session/root.ts';
import { claimStdout, JsonLines } from '../../server/mcp/stdio.ts';
import type { Command, Invocation } from '../line/command.ts';
import { leaseBuild } from '../process/build-lease.ts';
import { keepDigests } from '../process/keep-digests.ts';
import { endInOrder } from '../process/shutdown.ts';

/** `memory-bank` without a command: serves MCP over stdio until the client disconnects. */
export const serve: Command = {
  about: 'serve a project to an MCP client over stdio',
  async run(invocation) {
    const { app, options, version } = invocation;
    leaseBuild();
    const lines = new JsonLines(process.stdin, claimStdout());
    const status = endInOrder(options.log, () => lines.stop());
    if (process.stdin.isTTY) process.stderr.write(await guide(invocation));
    // Loaded here, because other commands do not need the protocol.
    const { serveStdio } = await import('../../server/mcp/mcp.ts');
    const renewDigest = keepDigests(app, invocation);
    await serveStdio(app, lines, version);
    await renewDigest();
    await app.close();
    return status();
  },
};

/** Text for a person who starts the server in a terminal. */
async function guide({ app, options, version }: Invocation): Promise<string> {
  const toolsets = (await app.toolsets()).map((toolset) => toolset.name).join(', ');
  const root = await findRoot({ ...options.place, clientRoots: async () => [] }).then(
    ({ path, source }) => `${path} (${source})`,
    (error: Error) => redactText(error.message),
  );
  const program = process.argv[1] ?? 'memory-bank';
  return `memory-bank ${version}, an MCP server over stdio
  project   ${root}
  toolsets  ${toolsets}
Register it with an MCP client, for example:
  claude mcp add memory-bank -- node ${JSON.stringify(program)}
It now reads JSON-RPC from this terminal. Ctrl-D ends it.
`;
}
