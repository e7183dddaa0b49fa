import { openStore } from '@batonjs/sample-store';
import { createAgentServer } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { designBoat } from './agent.ts';
import { card } from './card.ts';

const { PORT = '4003', BATON_DATA = '.data', BATON_STORE } = process.env;
const store = await openStore(BATON_STORE || `sqlite:${BATON_DATA}/boat-designer.db`);
// A question that is not answered within a week fails: a task that never ends is never pruned.
const timeouts = { interruptedMs: 7 * 24 * 60 * 60 * 1_000 };
const server = createAgentServer({
  name: 'boat-designer',
  card,
  agent: designBoat,
  store,
  timeouts,
});
const { url, close } = await listen(server, { port: Number(PORT) });
console.log(`The boat designer is at ${url}`);

const stop = () => close().then(() => store.close());
process.on('SIGINT', stop).on('SIGTERM', stop);
