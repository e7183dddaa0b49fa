import { type Authenticate, createAgentServer } from '@batonjs/server';
import { agent, card } from './agent.ts';
import { store } from './store.ts';

const { PORT = '3000', PUBLIC_URL = `http://localhost:${PORT}` } = process.env;
const week = 7 * 24 * 60 * 60 * 1_000;

/** The session of the visitor, which `proxy.ts` gave: each sees their own tasks. Without one, it is 401. */
const authenticate: Authenticate = ({ headers: { cookie = '' } }) => {
  const session = /(?:^|; *)session=([\da-f-]{36})(?:;|$)/.exec(cookie)?.[1];
  return session ? { scope: session } : undefined;
};

const create = () =>
  createAgentServer({
    // Its tasks in the store have this name. Each agent on a database needs one of its own.
    name: '{{name}}',
    card,
    agent,
    store,
    authenticate,
    publicUrl: `${PUBLIC_URL}/api/agent`,
    // A turn whose process died is run again: `turn.step` keeps what must not be done twice.
    restart: 'rerun',
    // Questions that are not answered, and tasks that ended, are kept for a week.
    timeouts: { interruptedMs: week },
    // A message that the page sends again after a broken connection starts no second task.
    messages: { idempotency: true },
    retention: { closedAfterMs: week },
    logger: (level, message, { err }) => console.error(level, message, err ?? ''),
  });

/** One server in a process: `next dev` loads this module again after each change. */
const kept = globalThis as { agentServer?: ReturnType<typeof create> };
kept.agentServer ??= create();
export const server = kept.agentServer;
