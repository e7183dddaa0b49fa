import { openStore } from '@batonjs/sample-store';
import type { WorkerOptions } from '@batonjs/server/worker';
import { telemetry } from '@batonjs/telemetry';
import { counting } from './agent.ts';

const { BATON_STORE = 'redis://127.0.0.1:6379', AGENT = 'counter', NAME = 'unnamed', TURNS } = process.env;

/** The options of servers and workers. The store is the only thing that the processes share. */
export const agentOptions = {
  name: AGENT,
  agent: counting(NAME),
  store: await openStore(BATON_STORE, { shared: true }),
  restart: 'rerun',
  // Short, so that a worker that was killed is noticed soon.
  timeouts: { leaseMs: 2_000 },
  ...(TURNS && { limits: { turns: Number(TURNS) } }),
  telemetry: telemetry({ expose: true }),
  logger(level, message, { attempt, maxAttempts, err }) {
    const which = attempt === undefined ? '' : ` (attempt ${attempt} of ${maxAttempts})`;
    if (level !== 'info') console.log(`    ${NAME} logs: ${message}${which}`, err ?? '');
  },
} satisfies WorkerOptions;
