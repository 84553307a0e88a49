import type { JsonObject } from '../../src/core/values/json.ts';

type Call = (tool: string, args?: JsonObject) => Promise<JsonObject>;

/** Fills a memory with what a team records about a shop in some weeks, through the tools. */
export async function fillRealistic(call: Call, folder: string): Promise<void> {
  await call('initialize_memory_bank', { path: folder });
  await call('create_features', {
    features: [
      { slug: 'checkout', name: 'Checkout', description: 'From the basket to the paid order' },
      { slug: 'checkout/payment', name: 'Payment', description: 'Cards and invoices' },
      { slug: 'catalogue', name: 'Catalogue', description: 'Products, prices and stock' },
    ],
  });
  await call('create_requirements', {
    feature_slug: 'checkout/payment',
    requirements: [
      { text: 'A payment is never made twice', notes: ['The key of a retry is the order'] },
      { text: 'Card numbers never reach our servers' },
    ],
  });
  await call('create_objective', {
    slug: 'idempotent-payments',
    name: 'Make payments idempotent',
    description: 'A retry of the client must not charge the card again.',
    status: 'in_progress',
  });
  await call('link_objective_to_features', {
    objective_slug: 'idempotent-payments',
    feature_slugs: ['checkout/payment'],
  });
  await call('create_tasks', {
    objective_slug: 'idempotent-payments',
    tasks: [
      { text: 'Send the order number as the key of the request', status: 'completed' },
      { text: 'Store the answer of the provider for a day', status: 'in_progress' },
      { text: 'Report a refused card without a retry' },
    ],
  });
  await call('memory_write', {
    category: 'project-learnings',
    key: 'provider-timeout',
    value: 'The payment provider answers after up to 40 seconds; our proxy gives up after 30.',
    reason: 'Two customers paid twice.',
  });
  await call('memory_write', {
    category: 'user-preferences',
    key: 'small-commits',
    value: 'One change in one commit, with the reason in its message.',
  });
  await call('activate_project', { project_path: folder });
  await call('store_memory', {
    title: 'How a payment works',
    type: 'design_doc',
    content: [
      '# How a payment works',
      'The client sends the order number. **One order, one payment.**',
      '',
      '| step | service |',
      '| --- | --- |',
      '| reserve | stock |',
      '| charge | provider |',
      '',
      '```ts',
      'await charge(order.id, order.total);',
      '```',
      '',
      'See [the decisions](../decisionLog.md) and [the provider](https://example.org/docs).',
    ].join('\n'),
  });
  await call('update_active_context', {
    tasks: ['Make payments idempotent'],
    issues: ['The proxy gives up before the provider answers'],
    next_steps: ['Try the retry with the test card'],
  });
  await call('log_decision', {
    title: 'The order number is the idempotency key',
    context: 'Retries of the client charged a card twice.',
    decision: 'Every request to the provider carries the order number.',
    alternatives: ['A random key for each request'],
  });
  await call('memory_write', {
    category: 'project-learnings',
    key: 'provider-timeout',
    value: 'The payment provider answers after up to 40 seconds; the proxy now waits for 60.',
    reason: 'The limit of the proxy was raised.',
  });
}
