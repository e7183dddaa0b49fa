import { openStore } from '@batonjs/sample-store';
import { createAgentServer } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { concierge } from './agent.ts';

const {
  PORT = '4005',
  BATON_DATA = '.data',
  BATON_STORE,
  AGENTS = 'http://127.0.0.1:4000/agents',
} = process.env;
const names = ['currency', 'boat-designer', 'trip-planner', 'expense'];
const remotes = Object.fromEntries(names.map((name) => [name, { url: `${AGENTS}/${name}` }]));
const store = await openStore(BATON_STORE || `sqlite:${BATON_DATA}/concierge.db`);
// A question that is not answered within a week fails: a task that never ends is never pruned.
const timeouts = { leaseMs: 2_000, interruptedMs: 7 * 24 * 60 * 60 * 1_000 };
const server = createAgentServer({
  ...concierge(remotes),
  name: 'concierge',
  store,
  timeouts,
});
const { url, close } = await listen(server, { port: Number(PORT) });
console.log(`The concierge is at ${url}`);

const stop = () => close().then(() => store.close());
process.on('SIGINT', stop).on('SIGTERM', stop);
