import { generateKeyPairSync } from 'node:crypto';
import { apiKey, signCard, verifyCard } from '@batonjs/auth';
import { type ConnectOptions, connect } from '@batonjs/client';
import type { AgentCard } from '@batonjs/protocol';
import { completed } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { open } from '../peer.ts';

const newKey = (kid: string) =>
  ({ ...generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }), kid }) as never;
const key = newKey('k');
const trust = { keys: [key] };

/** An agent with a signed card, and a connection on which an attacker may change the card. */
async function agent(tamper: (card: AgentCard) => unknown = (card) => card) {
  const { server } = await open(
    { binding: 'HTTP+JSON', adapter: 'in process', store: 'memory' },
    async function* () {
      yield completed('Done');
    },
    {
      authenticate: apiKey({ header: 'k', keys: new Map([['a', { scope: 'ada' }]]) }),
      card: {
        name: 'Row',
        description: 'For tests',
        extended: { version: '2.0.0' },
        sign: (card) => signCard(card, key),
      },
      publicUrl: 'http://localhost',
    },
  );
  const asked: string[] = [];
  const options: ConnectOptions = {
    headers: { k: 'a' },
    retry: false,
    async fetch(request) {
      asked.push(new URL(request.url).pathname);
      request.headers.delete('if-none-match');
      const response = await server.fetch(request);
      const isCard = /agent-card.json|extendedAgentCard/.test(request.url) && response.status === 200;
      return isCard ? Response.json(tamper(await response.json()), { headers: response.headers }) : response;
    },
  };
  return {
    asked,
    connect: (more: ConnectOptions = {}, to: string | AgentCard = 'http://localhost') =>
      connect(to, { ...options, binding: 'HTTP+JSON', ...more }),
  };
}

describe('A client that trusts signed cards only', () => {
  const verify = { verifyCard: (card: AgentCard) => verifyCard(card, trust) };

  it('talks to an agent whose card is genuine, by its extended card too [R-SIG-01] [R-CARD-23]', async () => {
    const { connect } = await agent();
    const client = await connect(verify);
    const { task } = await client.send('go');
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect((await client.getExtendedAgentCard()).version).toBe('2.0.0');
    expect(client.card.version).toBe('2.0.0');
  });

  it.each<[string, (card: AgentCard) => unknown, string]>([
    ['changed', (card) => ({ ...card, name: 'Other' }), 'INVALID_SIGNATURE'],
    [
      'led elsewhere',
      (card) => ({
        ...card,
        supportedInterfaces: card.supportedInterfaces.map((one) => ({ ...one, url: 'http://evil' })),
      }),
      'INVALID_SIGNATURE',
    ],
    ['stripped of its signature', ({ signatures, ...card }) => card, 'UNSIGNED'],
  ])('does not even ask an agent whose card was %s [R-SIG-01] [R-SIG-07]', async (_, tamper, code) => {
    const { connect, asked } = await agent(tamper);
    await expect(connect(verify)).rejects.toMatchObject({ code: 'UNTRUSTED_CARD', cause: { code } });
    expect(asked).toEqual(['/.well-known/agent-card.json']);
    await expect(connect()).resolves.toBeDefined();
  });

  it('does not use an extended card that is not genuine [R-SIG-01]', async () => {
    const { connect } = await agent((card) => (card.version === '2.0.0' ? { ...card, name: 'Other' } : card));
    const client = await connect(verify);
    await expect(client.getExtendedAgentCard()).rejects.toMatchObject({ code: 'UNTRUSTED_CARD' });
    expect(client.card.version).toBe('1.0.0');
  });

  it('checks cards that are given to it, and ones that are read again [R-SIG-01]', async () => {
    let hostile = false;
    const { connect } = await agent((card) => (hostile ? { ...card, name: 'Other' } : card));
    const client = await connect(verify);
    await expect(connect(verify, { ...client.card, name: 'Other' })).rejects.toMatchObject({
      code: 'UNTRUSTED_CARD',
    });
    await expect(connect(verify, client.card)).resolves.toBeDefined();
    let now = 0;
    const watchful = await connect({ ...verify, clock: { now: () => now } });
    hostile = true;
    await expect(watchful.readCard()).resolves.toMatchObject({ name: 'Row' });
    now = 61_000;
    await expect(watchful.readCard()).rejects.toMatchObject({ code: 'UNTRUSTED_CARD' });
    expect(watchful.card.name).toBe('Row');
  });

  it('may decide for itself', async () => {
    const { connect } = await agent();
    await expect(connect({ verifyCard: () => false })).rejects.toMatchObject({ code: 'UNTRUSTED_CARD' });
    await expect(connect({ verifyCard: async () => undefined })).resolves.toBeDefined();
    const seen: AgentCard[] = [];
    await connect({ verifyCard: (card) => void seen.push(card) });
    expect(seen).toEqual([expect.objectContaining({ signatures: expect.any(Array) })]);
  });
});
