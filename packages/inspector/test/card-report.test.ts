import { type CardTrust, publicKeys, signCard } from '@batonjs/auth';
import { createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { newKey } from '../../auth/test/keys/sample-keys.ts';
import { reportCard } from '../src/agents/card-report.ts';
import { AgentLink } from '../src/agents/inspected.ts';
import { showAgent } from './show-agent.ts';

const key = newKey('k-1');
const trust: CardTrust = { keys: publicKeys([key]).keys };
const url = 'https://agents.example.com/show';

/** The report about the card of an agent in this process, signed with the key unless `isSigned` is false. */
function report(trusted?: CardTrust, { isSigned = true, change = (card: object): object => card } = {}) {
  const shown = showAgent(async () => {});
  const server = closedAfterTest(
    createAgentServer({
      ...shown,
      store: memoryStore(),
      logger: () => {},
      publicUrl: url,
      card: { ...shown.card, ...(isSigned && { sign: (card) => signCard(card, key) }) },
    }),
  );
  const handle: typeof server.handle = async (exchange) => {
    const reply = await server.handle(exchange);
    return { ...reply, body: JSON.stringify(change(JSON.parse(String(reply.body)))) };
  };
  return reportCard(new AgentLink(url, { server: { ...server, handle } }), trusted);
}

describe('the signature of a card', () => {
  it('is verified by a trusted key', async () => {
    expect((await report(trust)).signature).toMatchObject({ state: 'verified', kid: 'k-1' });
  });

  it('is not verifiable without keys, or by another key', async () => {
    expect((await report()).signature).toMatchObject({ state: 'unverifiable' });
    const other = { keys: publicKeys([newKey('k-2')]).keys };
    expect((await report(other)).signature).toMatchObject({ state: 'unverifiable' });
  });

  it('is invalid for a card that was changed', async () => {
    const change = (card: object) => ({ ...card, description: 'Another one' });
    expect((await report(trust, { change })).signature).toMatchObject({ state: 'invalid' });
  });

  it('may be absent', async () => {
    expect((await report(trust, { isSigned: false })).signature).toEqual({ state: 'absent' });
  });
});

describe('the schema of a card', () => {
  it('has no problems with a complete card', async () => {
    expect((await report()).issues).toEqual([]);
  });

  it('has a problem with each member that is wrong', async () => {
    const change = (card: object) => ({ ...card, name: '', skills: [{ id: 'x' }] });
    const { issues, raw } = await report(undefined, { change });
    expect(issues.map(({ path }) => path)).toEqual(expect.arrayContaining(['name', 'skills.0.name']));
    expect(raw).toMatchObject({ name: '' });
  });
});
