import { tick, withWaitUntil } from '@batonjs/server/due';
import { waitUntil } from '@vercel/functions';
import { serverOn } from './server.ts';
import { store } from './store.ts';

const create = () => {
  const server = serverOn(store);
  return {
    server,
    answer: withWaitUntil(server, { waitUntil, maxMs: 50_000 }),
    cron: tick(server, { secret: process.env.CRON_SECRET, bearer: true, forMs: 50_000 }),
  };
};

/** One server in a process: `next dev` loads this module again after each change. */
const kept = globalThis as { agentServer?: ReturnType<typeof create> };
kept.agentServer ??= create();
export const { server, answer, cron } = kept.agentServer;
