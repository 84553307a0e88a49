// A pretend model on 127.0.0.1 that speaks the wires of all clients and answers with a script.
//
// It answers Anthropic Messages, OpenAI Responses, OpenAI Chat and Gemini, each as a stream and in one piece. It keeps
// each request, so that a test can see what a client gives to a model.
import { createServer } from 'node:http';
import { wireOf } from './wires.js';

/**
 * A tool call, with the exact name that the client offered.
 *
 * @typedef {{ readonly name: string, readonly namespace?: string, readonly args: unknown }} Call
 */

/**
 * The answer to one request.
 *
 * @typedef {{ readonly text: string } | { readonly call: Call }} Reply
 */

/**
 * A tool as a client offers it; `namespace` is the group in which Codex puts the tools of a server.
 *
 * @typedef {{ readonly name: string, readonly namespace?: string }} Offered
 */

/**
 * A request for an answer of the model.
 *
 * @typedef {{ readonly wire: string, readonly path: string, readonly text: string,
 *   readonly tools: readonly Offered[] }} Asked
 */

/**
 * Starts a pretend model.
 *
 * @returns its address, what it was asked, the paths that it does not know, `script` to set its answers, `close`.
 */
export async function startModel() {
  /** @type {Asked[]} */
  let asked = [];
  /** @type {string[]} */
  let unknown = [];
  /** @type {(asked: Asked) => Reply} */
  let answer = () => ({ text: 'done' });
  let replies = 0;

  const server = createServer(async (request, response) => {
    request.setEncoding('utf8');
    let text = '';
    for await (const chunk of request) text += chunk;
    const path = (request.url ?? '').replace(/\?.*/, '');
    const wire = wireOf(path);
    if (!wire || request.method !== 'POST') {
      unknown.push(`${request.method} ${path}`);
      const models = { object: 'list', data: [{ id: 'pretend', object: 'model', created: 1 }] };
      response.setHeader('content-type', 'application/json');
      if (!/\/models$/.test(path)) response.statusCode = 404;
      response.end(JSON.stringify(response.statusCode === 404 ? { error: {} } : models));
      return;
    }
    const body = JSON.parse(text || '{}');
    const counted = wire.counts?.(path);
    if (counted) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(counted));
      return;
    }
    const one = { wire: wire.name, path, text: readable(body), tools: wire.tools(body) };
    asked.push(one);
    replies += 1;
    const reply = answer(one);
    if (!wire.isStream(path, body)) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(wire.whole(reply, replies)));
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    for (const [event, data] of wire.events(reply, replies)) {
      if (event) response.write(`event: ${event}\n`);
      response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
    }
    response.end();
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', () => done(undefined)));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The model has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    asked: () => asked,
    unknown: () => unknown,
    /** @param {(asked: Asked) => Reply} next */
    script(next) {
      asked = [];
      unknown = [];
      answer = next;
    },
    close: () => server.close(),
  };
}

/**
 * Returns all texts of a request, one a line, as the model reads them.
 *
 * @param {unknown} value
 * @returns {string}
 */
function readable(value) {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(readable).filter(Boolean).join('\n');
}
