import { afterAll, beforeAll, expect, it } from 'vitest';
import { probeApp } from '../support/app.ts';
import { runs } from '../support/depth.ts';
import fc from '../support/fc.ts';
import { ModernClient, modernMeta } from '../support/modern.ts';

let client: ModernClient;
let count = 0;

beforeAll(() => {
  client = new ModernClient(probeApp().app);
});

afterAll(() => client.end());

const methods = [
  'server/discover',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/read',
  'resources/templates/list',
  'prompts/list',
  'prompts/get',
  'subscriptions/listen',
  '__proto__',
  'constructor',
  '',
];
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(5, -1, '', 'note://a', 'steps', 'recall', {}, [], null),
);
const params = fc.dictionary(
  fc.constantFrom(
    'name',
    'uri',
    'arguments',
    'notifications',
    'inputResponses',
    'cursor',
    '__proto__',
  ),
  value,
);
const fields = fc.dictionary(
  fc.constantFrom(
    'protocolVersion',
    'clientCapabilities',
    'clientInfo',
    'logLevel',
    'progressToken',
  ),
  value,
);

it('any request is answered once, by a result or by an error of the protocol', async () => {
  const request = fc.record({ method: fc.constantFrom(...methods), params, fields });
  await fc.assert(
    fc.asyncProperty(request, async ({ method, params, fields }) => {
      count += 1;
      const id = `request ${count}`;
      // One run in two has a valid envelope, so that methods get bad parameters as well.
      const meta = count % 2 === 0 ? modernMeta() : modernMeta(fields);
      client.send({ id, method, params: { ...params, _meta: meta } });
      const subscription = (message: { params?: { _meta?: object } }) =>
        Object.values(message.params?._meta ?? {}).includes(id);
      const first = await client.find((message) => message.id === id || subscription(message));
      if (first.method) {
        client.cancel(id);
        return;
      }
      if (first.error) {
        expect(first.error.code).toBeOneOf([-32600, -32601, -32602, -32603, -32021, -32022]);
        expect(first.error.message).not.toBe('');
      } else {
        expect(first.result.resultType).toBeOneOf(['complete', 'input_required']);
      }
    }),
    { numRuns: runs(2_000) },
  );
  const ids = client.messages.flatMap(({ id }) => id ?? []);
  expect(new Set(ids).size).toBe(ids.length);
});
