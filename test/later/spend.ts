import { completed, createAgentServer } from '@batonjs/server';
import { rpc, say } from '../kit/rpc.ts';
import { openStore, type StoreAddress } from './open-store.ts';

/**
 * Sends messages to an agent until its limits refuse one, several at once, and prints how many calls of a model it made: each
 * takes a moment, reads 10 tokens and costs 0.01 USD. A message to this process, of the same caller as those to another one.
 */
const [address, limits, atOnce] = process.argv.slice(2) as [string, string, string];
const store = openStore(JSON.parse(address) as StoreAddress);
let calls = 0;
// It is noon: the test lies in one day.
const startedAt = Date.now();
const clock = { now: () => Date.UTC(2026, 0, 2, 12) + Date.now() - startedAt };
const server = createAgentServer({
  card: { name: 'Spends', description: 'Calls a model' },
  name: 'spends',
  ...{ store, clock },
  limits: JSON.parse(limits),
  logger: () => {},
  async *agent(turn) {
    const usage = () => ({ model: 'small', inputTokens: 10, cost: 0.01, currency: 'USD' });
    await turn.step('ask', { usage }, () => {
      calls++;
      return new Promise((resolve) => setTimeout(resolve, 20, 'well'));
    });
    yield completed();
  },
});
const send = async () =>
  (await rpc(server, 'SendMessage', { message: say('go', { contextId: 'one' }) })).task.status.state ===
  'TASK_STATE_COMPLETED';
await Promise.all(
  Array.from({ length: Number(atOnce) }, async () => {
    while (await send());
  }),
);
await server.close();
await store.close();
process.stdout.write(`${calls}\n`, () => process.exit());
