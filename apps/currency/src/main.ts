import { openStore } from '@batonjs/sample-store';
import { createAgentServer } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { convertMoney } from './agent.ts';
import { card } from './card.ts';

const { PORT = '4002', BATON_DATA = '.data', BATON_STORE } = process.env;
const store = await openStore(BATON_STORE || `sqlite:${BATON_DATA}/currency.db`);
// A question that is not answered within a week fails: a task that never ends is never pruned.
const timeouts = { interruptedMs: 7 * 24 * 60 * 60 * 1_000 };
const server = createAgentServer({
  name: 'currency',
  card,
  agent: convertMoney,
  store,
  messages: { currentStatusInHistory: true },
  timeouts,
});
const { url, close } = await listen(server, { port: Number(PORT) });
console.log(`The currency agent is at ${url}`);

const stop = () => close().then(() => store.close());
process.on('SIGINT', stop).on('SIGTERM', stop);
