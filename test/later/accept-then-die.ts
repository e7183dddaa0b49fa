import { SCHEDULING } from '@batonjs/protocol/headers';
import { createAgentServer } from '@batonjs/server';
import { rpc, say } from '../kit/rpc.ts';
import { scope } from '../kit/scope.ts';
import { laterMs, laterOptions } from './later-agent.ts';
import { openStore, type StoreAddress } from './open-store.ts';

/** A process of its own: puts a message off, lets another task sleep, prints both ids, and kills itself. */
const store = openStore(JSON.parse(process.argv[2]!) as StoreAddress);
const server = createAgentServer({ ...laterOptions, store });
const configuration = { returnImmediately: true };
const headers = { 'a2a-extensions': SCHEDULING };
const { task: asleep } = await rpc(server, 'SendMessage', { message: say('sleep'), configuration });
for (;;) {
  const facts = await store.readFacts(scope, asleep.id, 0, 100);
  if (facts.some(({ fact }) => fact.type === 'turn-ended')) break;
  await new Promise((resolve) => setTimeout(resolve, 5));
}
const notBefore = new Date(Date.now() + laterMs).toISOString();
const message = say('start', { metadata: { [SCHEDULING]: { notBefore } } });
const { task: postponed } = await rpc(server, 'SendMessage', { message, configuration }, headers);
process.stdout.write(`${JSON.stringify([postponed.id, asleep.id])}\n`, () =>
  process.kill(process.pid, 'SIGKILL'),
);
