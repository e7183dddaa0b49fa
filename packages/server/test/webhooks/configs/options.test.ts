import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import {
  createWebhooks,
  previewFormat,
  pushDeliveries,
  pushFormat,
  type Webhooks,
} from '../../../src/webhooks/webhooks.ts';
import { push } from '../kit/push-config.ts';

describe('the options of webhooks', () => {
  const store = memoryStore();

  it('have defaults', () => {
    expect(createWebhooks(store)?.options).toEqual({
      updates: 'default',
      timeoutMs: 10_000,
      retry: {
        baseDelayMs: 1_000,
        maxDelayMs: 3_600_000,
        maxAttempts: 40,
        maxRejections: 8,
        maxAgeMs: 86_400_000,
      },
      concurrency: 256,
      configsPerTask: 100,
      redactSecrets: true,
      http: false,
      sign: undefined,
    });
  });

  it('are taken as they are given', () => {
    const options = {
      updates: 'all',
      timeoutMs: 1,
      retry: { baseDelayMs: 1, maxDelayMs: 2, maxAttempts: 3, maxRejections: 4, maxAgeMs: 5 },
      concurrency: 6,
      configsPerTask: 0,
      redactSecrets: false,
      http: true,
      sign: () => ({}),
    } as const;
    const webhooks = createWebhooks(store, options);
    expect(webhooks?.options).toEqual(options);
    expect(webhooks?.sign).toBe(options.sign);
    expect(webhooks?.store).toBe(store);
  });

  it.each(['timeoutMs', 'concurrency'])('`%s` is more than 0', (name) => {
    for (const value of [0, -1, Number.NaN])
      expect(() => createWebhooks(store, { [name]: value })).toThrow(
        new TypeError(`\`push.${name}\` must be more than 0`),
      );
  });

  it.each(['baseDelayMs', 'maxDelayMs', 'maxAttempts', 'maxRejections', 'maxAgeMs'])(
    '`retry.%s` is more than 0',
    (name) => {
      expect(() => createWebhooks(store, { retry: { [name]: 0 } })).toThrow(`\`push.retry.${name}\` must be`);
    },
  );

  it('are none where webhooks are turned off, or the store keeps none', () => {
    expect(createWebhooks(store, false)).toBeUndefined();
    const { claimDeliveries: _, ...tasks } = store;
    expect(createWebhooks(tasks as never)).toBeUndefined();
  });

  it('name a format for each version', () => {
    const older = { version: '0.3', mediaType: 'application/json', encode: () => undefined };
    const { formats } = createWebhooks(store, {}, [{ pushFormat: older } as never])!;
    expect([...formats.keys()]).toEqual(['1.0', '1.1', '0.3']);
    expect([formats.get('1.0'), formats.get('1.1'), formats.get('0.3')]).toEqual([
      pushFormat,
      previewFormat,
      older,
    ]);
    expect(pushFormat.encode({ task: { id: 't' } } as never)).toBe('{"task":{"id":"t"}}');
    expect([pushFormat.mediaType, previewFormat.mediaType]).toEqual([
      'application/a2a+json',
      'application/a2a+json',
    ]);
  });

  it('let public webhooks be without TLS only where that is asked for', () => {
    const check = (options: object) => createWebhooks(store, options)!.policy.check('http://93.184.216.34/');
    expect(() => check({})).toThrow('must be an https URL');
    expect(check({ http: true }).protocol).toBe('http:');
  });
});

describe('webhooks that were given up', () => {
  const asked: unknown[] = [];
  const store = {
    async listDead(...given: unknown[]) {
      asked.push(given);
      return [
        push('https://a.example/hook?key=1', 'w', { dead: 'It answered 410' }),
        push('no address', 'v'),
      ];
    },
    async revive(...given: unknown[]) {
      asked.push(given);
      return true;
    },
  };
  const deliveries = pushDeliveries({ store } as unknown as Webhooks, 'queue');

  it('are listed without the query of their address', async () => {
    const letters = await deliveries.deadLetters();
    expect(letters).toEqual([
      {
        scope: 's',
        taskId: 't',
        id: 'w',
        url: 'https://a.example/hook',
        reason: 'It answered 410',
        cursor: 3,
      },
      { scope: 's', taskId: 't', id: 'v', url: '', reason: '', cursor: 3 },
    ]);
    await deliveries.deadLetters({ limit: 2 });
    expect(await deliveries.redeliver(letters[0]!)).toBe(true);
    expect(asked).toEqual([
      ['queue', { limit: 100 }],
      ['queue', { limit: 2 }],
      ['s', 't', 'w'],
    ]);
  });

  it('are none where there is no push', async () => {
    const none = pushDeliveries(undefined, 'queue');
    expect(await none.deadLetters()).toEqual([]);
    expect(await none.redeliver({ scope: 's', taskId: 't', id: 'w' })).toBe(false);
  });
});
