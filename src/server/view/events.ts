import * as z from 'zod';
import type { App } from '../../app/app.ts';
import { type Endpoint, untilClosed } from '../http/server/endpoint.ts';
import { claimsNow } from './board-operations.ts';

/** The pause between two comments in a stream, which show that the connection lives, in milliseconds. */
const interval = 25_000;
/** The pause between two looks at reviews and claims, which are not in the work tree, in milliseconds. */
const reviewPause = 1000;

/** The streams of changed paths that pages read. */
export class ChangeStreams {
  readonly #open = new Set<() => void>();

  /** Returns the operation that opens a stream: server-sent events, each with the changed paths. */
  endpoint(app: App): Endpoint {
    return {
      method: 'get',
      path: '/memory/events',
      id: 'watch_changes',
      summary:
        'Sends an event with the paths of the records after each change, until it is closed.',
      input: z.object({
        since: z
          .string()
          .optional()
          .describe('A commit; an event is sent at once if HEAD is another'),
      }),
      inQuery: true,
      answer: z.object({ paths: z.array(z.string()) }),
      handle: async (request, response) => {
        const session = app.connect();
        const send = (paths: readonly string[]) => {
          // A page that does not read gets one event less, not a growing queue.
          if (response.writableLength === 0) {
            response.write(`data: ${JSON.stringify({ paths: paths.slice(0, 1000) })}\n\n`);
          }
        };
        const stop = app.watch(session, send);
        // The session follows the memory from its first call on.
        const call = untilClosed(response);
        const head = await app.run(session, 'events', call, ({ project }) => project.head());
        if (response.destroyed) return stop();
        const timer = setInterval(() => response.write(': \n\n'), interval);
        const refs = () =>
          app.run(session, 'events', call, async (context) =>
            JSON.stringify([...(await context.reviews.tips()), await claimsNow(context)]),
          );
        const stopLooking = poll(refs, reviewPause, () => send([]));
        const end = () => response.end();
        this.#open.add(end);
        response.once('close', () => {
          clearInterval(timer);
          stopLooking();
          this.#open.delete(end);
          stop();
        });
        response.type('text/event-stream').write(': \n\n');
        // A browser that lost its stream asks again with the commit that it began with.
        const { since } = request.query;
        if (since !== undefined && since !== head.oid) response.write('data: {"paths":[]}\n\n');
      },
    };
  }

  /** Ends all streams, so that the server can stop. */
  end(): void {
    for (const end of this.#open) end();
  }
}

/** Calls back after each change of a state that is read from time to time; returns how to stop it. */
function poll(read: () => Promise<string>, pause: number, onChange: () => void): () => void {
  let known: string | undefined;
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const look = async () => {
    // A state that cannot be read now is read the next time.
    const state = await read().catch(() => known);
    if (isOver) return;
    if (known !== undefined && state !== known) onChange();
    known = state;
    timer = setTimeout(look, pause).unref();
  };
  void look();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
