import { openStore } from '@batonjs/sample-store';
import { createAgentServer } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { tripPlanner } from './agent.ts';
import { quickAirline } from './airline.ts';

const { PORT = '4004', BATON_DATA = '.data', BATON_STORE } = process.env;
const store = await openStore(BATON_STORE || `sqlite:${BATON_DATA}/trip-planner.db`);
// A question that is not answered within a week fails: a task that never ends is never pruned.
const timeouts = { interruptedMs: 7 * 24 * 60 * 60 * 1_000 };
const publicUrl = `http://127.0.0.1:${PORT}`;
const server = createAgentServer({
  ...tripPlanner({ self: publicUrl, airline: quickAirline }),
  publicUrl,
  // The airline confirms flights there.
  callbacks: true,
  name: 'trip-planner',
  // It calls itself for a whole trip: a call that a crash interrupts is sent again, and counts once.
  messages: { idempotency: true },
  store,
  timeouts,
});
const { url, close } = await listen(server, { port: Number(PORT) });
console.log(`The trip planner is at ${url}`);

const stop = () => close().then(() => store.close());
process.on('SIGINT', stop).on('SIGTERM', stop);
