// The wires of the pretend model: where each has its tools, and how it writes a text or a tool call.

/** @typedef {import('./pretend-model.js').Reply} Reply */
/** @typedef {import('./pretend-model.js').Offered} Offered */

/**
 * What a request has of tools; each wire has its own shape.
 *
 * @typedef {{ readonly stream?: boolean, readonly tools?: readonly any[] }} Body
 */

/**
 * A wire: a protocol between a client and a model.
 *
 * @typedef {object} Wire
 * @property {string} name
 * @property {RegExp} path
 * @property {(path: string) => object | undefined} [counts] the answer to a request that only counts tokens.
 * @property {(body: Body) => readonly Offered[]} tools
 * @property {(path: string, body: Body) => boolean} isStream
 * @property {(reply: Reply, count: number) => object} whole
 * @property {(reply: Reply, count: number) => readonly (readonly [string, object | string])[]} events
 */

const anthropicUsage = { input_tokens: 10, output_tokens: 5 };

/** @type {Wire} */
const anthropic = {
  name: 'Anthropic Messages',
  path: /\/messages(?:\/count_tokens)?$/,
  counts: (path) => (path.endsWith('/count_tokens') ? { input_tokens: 10 } : undefined),
  tools: (body) => (body.tools ?? []).map(({ name }) => ({ name })),
  isStream: (_, body) => body.stream === true,
  whole: (reply, count) => ({
    ...anthropicMessage(count),
    content: [
      'call' in reply
        ? { type: 'tool_use', id: `toolu_${count}`, name: reply.call.name, input: reply.call.args }
        : { type: 'text', text: reply.text },
    ],
    stop_reason: 'call' in reply ? 'tool_use' : 'end_turn',
  }),
  events: (reply, count) => {
    const isCall = 'call' in reply;
    const block = isCall
      ? { type: 'tool_use', id: `toolu_${count}`, name: reply.call.name, input: {} }
      : { type: 'text', text: '' };
    const delta = isCall
      ? { type: 'input_json_delta', partial_json: JSON.stringify(reply.call.args) }
      : { type: 'text_delta', text: reply.text };
    const end = { stop_reason: isCall ? 'tool_use' : 'end_turn', stop_sequence: null };
    return [
      { type: 'message_start', message: { ...anthropicMessage(count), content: [] } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: end, usage: anthropicUsage },
      { type: 'message_stop' },
    ].map((event) => [event.type, event]);
  },
};

/** @param {number} count */
const anthropicMessage = (count) => ({
  id: `msg_${count}`,
  type: 'message',
  role: 'assistant',
  model: 'pretend',
  stop_reason: null,
  stop_sequence: null,
  usage: anthropicUsage,
});

/** @type {Wire} */
const responses = {
  name: 'OpenAI Responses',
  path: /\/responses$/,
  tools: (body) =>
    (body.tools ?? []).flatMap((tool) =>
      tool.type === 'namespace'
        ? tool.tools.map((/** @type {{ name: string }} */ { name }) => ({
            name,
            namespace: tool.name,
          }))
        : [{ name: tool.name ?? tool.type }],
    ),
  isStream: (_, body) => body.stream === true,
  whole: (reply, count) => response(count, [responseItem(reply, count)]),
  events: (reply, count) => {
    const item = responseItem(reply, count);
    const begun = { type: 'response.created', response: response(count, [], 'in_progress') };
    const added = { type: 'response.output_item.added', output_index: 0, item };
    const at = { output_index: 0, content_index: 0, item_id: `item_${count}` };
    const delta = 'text' in reply ? [{ ...at, delta: reply.text }] : [];
    return [
      begun,
      added,
      ...delta.map((more) => ({ type: 'response.output_text.delta', ...more })),
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: response(count, [item]) },
    ].map((event, sequence_number) => [event.type, { ...event, sequence_number }]);
  },
};

/** @param {Reply} reply @param {number} count */
function responseItem(reply, count) {
  const id = `item_${count}`;
  if ('text' in reply) {
    const content = [{ type: 'output_text', text: reply.text, annotations: [] }];
    return { type: 'message', id, role: 'assistant', status: 'completed', content };
  }
  const { name, namespace, args } = reply.call;
  const call = { type: 'function_call', id, call_id: `call_${count}`, status: 'completed', name };
  return { ...call, ...(namespace && { namespace }), arguments: JSON.stringify(args) };
}

/** @param {number} count @param {readonly object[]} output */
function response(count, output, status = 'completed') {
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 15,
  };
  const id = `resp_${count}`;
  return { id, object: 'response', created_at: 1, model: 'pretend', status, output, usage };
}

/** @type {Wire} */
const chat = {
  name: 'OpenAI Chat',
  path: /\/chat\/completions$/,
  tools: (body) => (body.tools ?? []).map((tool) => ({ name: tool.function?.name ?? '' })),
  isStream: (_, body) => body.stream === true,
  whole: (reply, count) => ({
    ...chatCompletion(count, 'chat.completion'),
    choices: [{ index: 0, message: chatMessage(reply, count), finish_reason: chatEnd(reply) }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  }),
  events: (reply, count) => {
    const about = chatCompletion(count, 'chat.completion.chunk');
    const { tool_calls, ...message } = chatMessage(reply, count);
    const delta = { ...message, tool_calls: tool_calls?.map((call) => ({ index: 0, ...call })) };
    const end = { index: 0, delta: {}, finish_reason: chatEnd(reply) };
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    return [
      ['', { ...about, choices: [{ index: 0, delta, finish_reason: null }] }],
      ['', { ...about, choices: [end] }],
      ['', { ...about, choices: [], usage }],
      ['', '[DONE]'],
    ];
  },
};

/** @param {number} count @param {string} object */
const chatCompletion = (count, object) => ({
  id: `chatcmpl-${count}`,
  object,
  created: 1,
  model: 'pretend',
});

/** @param {Reply} reply */
const chatEnd = (reply) => ('call' in reply ? 'tool_calls' : 'stop');

/** @param {Reply} reply @param {number} count */
function chatMessage(reply, count) {
  if ('text' in reply) return { role: 'assistant', content: reply.text };
  const { name, args } = reply.call;
  const call = { name, arguments: JSON.stringify(args) };
  return {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: `call_${count}`, type: 'function', function: call }],
  };
}

/** @type {Wire} */
const gemini = {
  name: 'Gemini',
  path: /:(?:generateContent|streamGenerateContent|countTokens)$/,
  counts: (path) => (path.endsWith(':countTokens') ? { totalTokens: 10 } : undefined),
  tools: (body) =>
    (body.tools ?? []).flatMap((tool) =>
      (tool.functionDeclarations ?? []).map((/** @type {{ name: string }} */ { name }) => ({
        name,
      })),
    ),
  isStream: (path) => path.endsWith(':streamGenerateContent'),
  whole: (reply, count) => ({
    candidates: [
      {
        index: 0,
        content: {
          role: 'model',
          parts: [
            'call' in reply
              ? {
                  functionCall: {
                    id: `call_${count}`,
                    name: reply.call.name,
                    args: reply.call.args,
                  },
                }
              : { text: reply.text },
          ],
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    modelVersion: 'pretend',
  }),
  events: (reply, count) => [['', gemini.whole(reply, count)]],
};

const wires = [anthropic, responses, chat, gemini];

/** Finds the wire of a path. @param {string} path */
export function wireOf(path) {
  return wires.find((wire) => wire.path.test(path));
}
