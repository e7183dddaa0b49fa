import { CardSignatureError, type CardTrust } from '@batonjs/auth';
import type { AgentClient } from '@batonjs/client';
import { TYPED_SKILLS } from '@batonjs/extensions/client';
import { describe, expect, it } from 'vitest';
import { reportCard } from '../../src/agents/card-report.ts';
import { listWebhooks } from '../../src/webhooks/list-webhooks.ts';

describe('the report about a card', () => {
  const of = (card: object, raw: unknown = card, used: object = {}, trust?: CardTrust) => {
    const client = { readCard: async () => card, interface: used };
    return reportCard({ client: async () => client, raw } as never, trust);
  };
  const [rpc, rest] = [
    { url: 'http://a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: 'http://a', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  ];
  const card = { name: 'A', description: 'B', version: '1', supportedInterfaces: [rpc], skills: [] };

  it.each([
    ['JSONRPC', '1.0', true],
    ['HTTP+JSON', '1.0', true],
    ['GRPC', '1.0', true],
    ['JSONRPC', '0.3', true],
    ['HTTP+JSON', '0.3', true],
    ['JSONRPC', '0.3.0', true],
    ['HTTP+JSON', '0.3.0', true],
    ['GRPC', '0.3', false],
    ['OTHER', '1.0', false],
    ['JSONRPC', '2.0', false],
  ])('says whether %s %s can be used: %s', async (protocolBinding, protocolVersion, isUsable) => {
    const each = { url: 'http://a', protocolBinding, protocolVersion };
    const { interfaces } = await of({ ...card, supportedInterfaces: [each] });
    expect(interfaces).toEqual([{ ...each, isUsable, isChosen: false }]);
  });

  it('says which one is used', async () => {
    const others = [rpc, rest, { ...rpc, url: 'http://b' }, { ...rpc, protocolVersion: '0.3' }];
    const { interfaces } = await of({ ...card, supportedInterfaces: others }, undefined, rpc);
    expect(interfaces.map(({ isChosen }) => isChosen)).toEqual([true, false, false, false]);
  });

  it('has the card as it was sent, or else as it is, and its schemas', async () => {
    const extensions = [
      { uri: 'https://other.example' },
      { uri: TYPED_SKILLS, params: { skills: { a: { input: { type: 'object' } }, b: null } } },
    ];
    const typed = await of({ ...card, capabilities: { extensions } }, { raw: 1 });
    expect([typed.raw, typed.skillSchemas]).toEqual([{ raw: 1 }, { a: { type: 'object' }, b: undefined }]);
    const plain = await of(card, undefined);
    expect([plain.raw, plain.skillSchemas, plain.signature]).toEqual([card, {}, { state: 'absent' }]);
    expect((await of({ ...card, capabilities: {} })).skillSchemas).toEqual({});
  });

  it.each<[unknown, object]>([
    [null, { state: 'absent' }],
    [{ signatures: [] }, { state: 'absent' }],
    [{ signatures: 'x' }, { state: 'absent' }],
    [{ signatures: [{}] }, { state: 'unverifiable', why: 'The inspector was given no keys that it trusts' }],
  ])('judges the signatures of %j', async (raw, signature) => {
    expect((await of(card, raw ?? {})).signature).toEqual(signature);
  });

  it.each([
    ['KEYS_UNAVAILABLE', 'unverifiable'],
    ['UNTRUSTED_KEY', 'unverifiable'],
    ['INVALID_SIGNATURE', 'invalid'],
  ])('calls a signature with %s %s', async (code, state) => {
    const trust = {
      get keys(): never {
        throw new CardSignatureError(code as never, 'Because');
      },
    } as CardTrust;
    const signed = {
      ...card,
      signatures: [{ protected: btoa('{"alg":"ES256","kid":"k"}'), signature: 'AA' }],
    };
    expect((await of(signed, signed, {}, trust)).signature).toEqual({ state, why: 'Because' });
    const broken = {
      get keys(): never {
        throw new Error('Broken');
      },
    } as CardTrust;
    await expect(of(signed, signed, {}, broken)).rejects.toThrow('Broken');
  });
});

describe('the webhooks of an agent', () => {
  const config = (id: string, more: object = {}) => ({ id, taskId: 't', url: 'http://a/x?secret', ...more });
  const rows = (n: number) => Array.from({ length: n }, (_, at) => ({ id: `t${at}`, version: at }));
  const source = (tasks: object[], next?: string) =>
    ({ list: async () => ({ tasks, ...(next && { next }) }) }) as never;

  it('from its store are those of its newest tasks, and all that were given up', async () => {
    const asked: unknown[] = [];
    const push = (id: string, taskId: string, scope: string, more: object = {}) => ({
      id,
      taskId,
      scope,
      cursor: 1,
      attempts: 2,
      config: config(id, { authentication: { scheme: 'Basic' } }),
      ...more,
    });
    const webhooks = {
      async listPushConfigs(scope: string, taskId: string, options: object) {
        asked.push([scope, taskId, options]);
        return taskId === 't1' ? [push('w', 't1', 's1', { retryAt: 'later' })] : [];
      },
      async listDead(queue: string, options: object) {
        asked.push([queue, options]);
        return [push('w', 't1', 's1', { dead: 'no' }), push('v', 't9', 'gone', { dead: 'no' })];
      },
    };
    const store = { webhooks, queue: 'q', scopes: [{ scope: 's0' }, { scope: 's1' }] };
    expect(await listWebhooks({ store } as never, source(rows(2)), 1)).toEqual({
      isComplete: true,
      webhooks: [
        {
          id: 'w',
          taskId: 't1',
          url: 'http://a/x',
          authentication: 'Basic',
          cursor: 1,
          attempts: 2,
          scope: 1,
          version: 1,
          retryAt: 'later',
        },
        {
          id: 'v',
          taskId: 't9',
          url: 'http://a/x',
          authentication: 'Basic',
          cursor: 1,
          attempts: 2,
          scope: -1,
          dead: 'no',
        },
      ],
    });
    expect(asked).toEqual([
      ['s1', 't0', { limit: 100 }],
      ['s1', 't1', { limit: 100 }],
      ['q', { limit: 100 }],
    ]);
    const all = async (n: number, next?: string) => {
      asked.length = 0;
      const { isComplete } = await listWebhooks({ store } as never, source(rows(n), next));
      return [isComplete, asked.length - 1];
    };
    expect([await all(50), await all(51), await all(1, 'n')]).toEqual([
      [true, 50],
      [false, 50],
      [false, 1],
    ]);
    expect(await listWebhooks({ store: { scopes: [] } } as never, source(rows(51)))).toEqual({
      webhooks: [],
      isComplete: true,
    });
  });

  it('from the agent are asked for where it has some', async () => {
    const asked: unknown[] = [];
    const client = (capabilities?: object) =>
      ({
        card: { capabilities },
        async listTaskPushNotificationConfigs(params: { taskId: string }) {
          asked.push(params);
          return params.taskId === 't0' ? { configs: [config('w', { token: 'x' }), { url: 'none' }] } : {};
        },
      }) as unknown as AgentClient;
    const list = (capabilities?: object) =>
      listWebhooks({ link: { client: async () => client(capabilities) } } as never, source(rows(2), 'n'));
    for (const none of [undefined, {}, { pushNotifications: false }])
      expect(await list(none)).toEqual({ webhooks: [], isComplete: true });
    expect(asked).toEqual([]);
    expect(await list({ pushNotifications: true })).toEqual({
      isComplete: false,
      webhooks: [
        { id: 'w', taskId: 't', url: 'http://a/x', authentication: 'token' },
        { id: '', taskId: '', url: '', authentication: 'none' },
      ],
    });
    expect(asked).toEqual([{ taskId: 't0' }, { taskId: 't1' }]);
  });
});
