import { apiKey } from '@batonjs/auth';
import { type ConnectOptions, connect } from '@batonjs/client';
import { type AgentServerOptions, completed, inputRequired } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { say } from '../../kit/rpc.ts';
import { everywhere, open } from '../peer.ts';

const asks = async function* () {
  yield inputRequired('Well?');
};
const card = { name: 'Row', description: 'For tests' };
const gone = { reason: 'TASK_NOT_FOUND' };

everywhere('Tenants', (serve) => {
  const kinds: [string, AgentServerOptions['card']['tenants']][] = [
    ['a list', ['acme', 'globex/2']],
    ['a function', async (tenant) => tenant === 'acme' || tenant === 'globex/2'],
  ];

  it.each(kinds)(
    'have tasks of their own, known from %s [R-OP-03] [R-OP-10] [R-REST-12]',
    async (_, tenants) => {
      const { call, stream } = await serve(asks, { card: { ...card, tenants } });
      const { task } = await call('SendMessage', { message: say('go'), tenant: 'acme' });
      expect(await call('GetTask', { id: task.id, tenant: 'acme' })).toMatchObject({ id: task.id });
      expect(await call('ListTasks', { tenant: 'acme' })).toMatchObject({ totalSize: 1 });
      for (const tenant of ['globex/2', undefined, 'nobody']) {
        await expect(call('GetTask', { id: task.id, tenant })).rejects.toMatchObject(gone);
        await expect(call('CancelTask', { id: task.id, tenant })).rejects.toMatchObject(gone);
        await expect(stream('SubscribeToTask', { id: task.id, tenant }).next()).rejects.toMatchObject(gone);
        await expect(
          call('SendMessage', { message: say('more', { taskId: task.id }), tenant }),
        ).rejects.toMatchObject(gone);
      }
      for (const tenant of ['globex/2', undefined])
        expect(await call('ListTasks', { tenant })).toMatchObject({ totalSize: 0 });
    },
  );

  it.each(kinds)(
    'that do not exist have nothing, not even a way to begin (%s) [R-OP-10]',
    async (_, tenants) => {
      const { call, stream } = await serve(asks, { card: { ...card, tenants } });
      for (const tenant of ['nobody', 'ACME', 'acme ', '__proto__']) {
        await expect(call('SendMessage', { message: say('go'), tenant })).rejects.toMatchObject(gone);
        await expect(call('ListTasks', { tenant })).rejects.toMatchObject(gone);
        await expect(
          stream('SendStreamingMessage', { message: say('go'), tenant }).next(),
        ).rejects.toMatchObject(gone);
      }
    },
  );

  it('may depend on who asks; to others there is no such tenant [R-OP-04] [R-OP-10]', async () => {
    const { call } = await serve(asks, {
      authenticate: apiKey({
        header: 'k',
        keys: new Map([
          ['a', { scope: 'acme' }],
          ['g', { scope: 'globex' }],
        ]),
      }),
      card: { ...card, tenants: (tenant, caller) => tenant === caller?.scope },
    });
    await expect(call('ListTasks', { tenant: 'acme' }, { k: 'a' })).resolves.toMatchObject({ totalSize: 0 });
    const foreign = await call('ListTasks', { tenant: 'acme' }, { k: 'g' }).catch((error) => error);
    const missing = await call('ListTasks', { tenant: 'acne' }, { k: 'g' }).catch((error) => error);
    expect(foreign).toMatchObject({ ...gone, metadata: { tenant: 'acme' } });
    expect({ ...foreign, metadata: {} }).toEqual({ ...missing, metadata: {} });
  });

  it('are any that a request names, unless the server knows them [R-OP-10]', async () => {
    const { call } = await serve(asks);
    for (const tenant of ['a', 'b/ä?#', '..x']) {
      const { task } = await call('SendMessage', { message: say('go'), tenant });
      expect(await call('GetTask', { id: task.id, tenant })).toMatchObject({ id: task.id });
      await expect(call('GetTask', { id: task.id })).rejects.toMatchObject(gone);
    }
  });

  it('come after errors of the request itself [R-OP-13]', async () => {
    const { call } = await serve(asks, { card: { ...card, tenants: [] } });
    await expect(call('ListTasks', { tenant: 'nobody', pageSize: -1 })).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
    });
  });
});

describe('A tenant', () => {
  const here = { binding: 'HTTP+JSON', adapter: 'Express', store: 'memory' } as const;
  const headers = { 'a2a-version': '1.0' };
  const done = async function* () {
    yield completed('Done');
  };

  it.each([
    ['the query', 'GET', '/acme/tasks?tenant=globex', undefined],
    ['the query of a POST', 'POST', '/acme/message:send?tenant=globex', { message: say('go') }],
    ['the body', 'POST', '/acme/message:send', { tenant: 'globex', message: say('go') }],
    ['body and query', 'POST', '/message:send?tenant=acme', { tenant: 'globex', message: say('go') }],
  ])(
    'in the path must not be another than in %s [R-OP-10] [R-REST-06] [R-REST-12]',
    async (_, method, path, body) => {
      const { fetch } = await open(here, done);
      const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
      const ask = (target: string, content: object | undefined) =>
        fetch(target, { method, headers, ...(content && { body: JSON.stringify(content) }) });
      const refused = await ask(path, body);
      expect(refused.status).toBe(400);
      expect((await refused.json()).error.details[1].fieldViolations).toEqual([
        { field: 'tenant', description: expect.any(String) },
      ]);
      const agreed = await ask(path.replace('globex', 'acme'), body && { ...body, tenant: 'acme' });
      expect(agreed.status).toBe(200);
    },
  );

  it('has a card of its own, whose interfaces name it, so that clients do too [R-OP-09] [R-CARD-01]', async () => {
    const peer = await open(here, done, { card: { ...card, tenants: ['acme', 'a b'] } });
    for (const binding of ['JSONRPC', 'HTTP+JSON'])
      for (const tenant of ['acme', 'a b']) {
        const options: ConnectOptions = { binding, retry: false };
        const client = await connect(`${peer.url}/${encodeURIComponent(tenant)}`, options);
        expect(client.interface).toMatchObject({ tenant, url: peer.url });
        const { task } = await client.send('go');
        await expect(client.getTask({ id: task!.id })).resolves.toMatchObject({ id: task!.id });
        await expect(peer.call('GetTask', { id: task!.id, tenant })).resolves.toBeDefined();
        await expect(peer.call('GetTask', { id: task!.id })).rejects.toMatchObject(gone);
      }
    for (const path of ['nobody', '%zz', 'acme/x', ''])
      expect((await peer.fetch(`/${path}/.well-known/agent-card.json`, { headers })).status).toBe(404);
  });

  it('has no card of its own where any name is one', async () => {
    const { fetch } = await open(here, done);
    expect((await fetch('/acme/.well-known/agent-card.json', { headers })).status).toBe(404);
  });
});
