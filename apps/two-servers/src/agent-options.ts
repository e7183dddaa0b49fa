import type { WorkerOptions } from '@batonjs/server/worker';
import { redisStore } from '@batonjs/store-redis';
import { counting } from './agent.ts';

const { REDIS_URL = 'redis://127.0.0.1:6379', PREFIX = 'two-servers', NAME = 'unnamed' } = process.env;

/** The options of servers and workers. The store is the only thing that the processes share. */
export const agentOptions = {
  name: 'counter',
  agent: counting(NAME),
  store: redisStore({ url: REDIS_URL, prefix: PREFIX }),
  restart: 'rerun',
  // Short, so that a worker that was killed is noticed soon.
  leaseMs: 1_000,
  log(level, message, { attempt, maxAttempts, err }) {
    if (level !== 'info')
      console.log(`    ${NAME} logs: ${message} (attempt ${attempt} of ${maxAttempts})`, err ?? '');
  },
} satisfies WorkerOptions;
