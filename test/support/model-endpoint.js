// A process with a model endpoint that speaks OpenAI's protocol and gives scripted replies.
//
// PUT /script sets the next replies, GET /requests lists the requests; the rest is the protocol.
import { createServer } from 'node:http';

/**
 * @typedef {{ content?: string, calls?: { name: string, args: string }[], status?: number, hang?: boolean, raw?: string, type?: string }} Reply
 */

/** @type {Reply[]} */
let script = [];
/** @type {unknown[]} */
let requests = [];

const server = createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  if (request.url === '/script') {
    script = JSON.parse(text);
    requests = [];
    response.end();
  } else if (request.url === '/requests') {
    response.end(JSON.stringify(requests));
  } else if (request.method === 'POST' && request.url === '/v1/chat/completions') {
    const body = JSON.parse(text);
    requests.push({ ...body, authorization: request.headers.authorization });
    const reply = script.length > 1 ? script.shift() : script[0];
    if (reply?.hang) return;
    if (reply?.raw !== undefined) {
      response.writeHead(200, { 'content-type': reply.type ?? 'application/json' });
      response.end(reply.raw);
      return;
    }
    if (!reply || reply.status !== undefined) {
      response.writeHead(reply?.status ?? 500, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ error: { message: `secret ${request.headers.authorization}` } }),
      );
    } else if (body.stream) stream(reply, response);
    else complete(reply, response);
  } else response.writeHead(404).end();
});

/**
 * @param {Reply} reply
 * @param {import('node:http').ServerResponse} response
 */
function complete({ content, calls }, response) {
  const message = { role: 'assistant', content: content ?? null, tool_calls: calls?.map(toCall) };
  const finish_reason = calls ? 'tool_calls' : 'stop';
  response.setHeader('content-type', 'application/json');
  response.end(
    JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'test-model',
      choices: [{ index: 0, message, finish_reason }],
    }),
  );
}

/**
 * Streams a reply: the text word by word, the calls with their arguments in two halves.
 *
 * @param {Reply} reply
 * @param {import('node:http').ServerResponse} response
 */
function stream({ content, calls }, response) {
  response.setHeader('content-type', 'text/event-stream');
  const deltas = [
    { role: 'assistant' },
    ...(content?.match(/\S+\s*/g) ?? []).map((word) => ({ content: word })),
    ...(calls ?? []).flatMap(({ name, args }, index) => {
      const half = Math.floor(args.length / 2);
      return [
        { tool_calls: [{ ...toCall({ name, args: args.slice(0, half) }, index), index }] },
        { tool_calls: [{ index, function: { arguments: args.slice(half) } }] },
      ];
    }),
  ];
  const chunk = (/** @type {object} */ delta, /** @type {string | null} */ finish_reason) =>
    response.write(
      `data: ${JSON.stringify({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'test-model',
        choices: [{ index: 0, delta, finish_reason }],
      })}\n\n`,
    );
  for (const delta of deltas) chunk(delta, null);
  chunk({}, calls ? 'tool_calls' : 'stop');
  response.end('data: [DONE]\n\n');
}

/**
 * @param {{ name: string, args: string }} call
 * @param {number} index
 */
function toCall({ name, args }, index) {
  return { id: `call_${index}`, type: 'function', function: { name, arguments: args } };
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') process.stdout.write(`${address?.port}\n`);
});
