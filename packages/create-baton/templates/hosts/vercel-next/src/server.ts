import { type AgentServerOptions, type Authenticate, createAgentServer } from '@batonjs/server';
import { agent, card } from './agent.ts';

const {
  VERCEL_PROJECT_PRODUCTION_URL: production,
  PUBLIC_URL = production ? `https://${production}` : `http://localhost:${process.env.PORT ?? 3000}`,
} = process.env;
const week = 7 * 24 * 60 * 60 * 1_000;

/** The session of the visitor, which `proxy.ts` gave: each sees their own tasks. Without one, it is 401. */
const authenticate: Authenticate = ({ headers: { cookie = '' } }) => {
  const session = /(?:^|; *)session=([\da-f-]{36})(?:;|$)/.exec(cookie)?.[1];
  return session ? { scope: session } : undefined;
};

/** The agent on a host that keeps no process: it works while a call waits, and in runs. */
export const serverOn = (store: AgentServerOptions['store']) =>
  createAgentServer({
    // Its tasks in the store have this name. Each agent on a database needs one of its own.
    name: '{{name}}',
    card,
    agent,
    store,
    authenticate,
    run: 'due',
    publicUrl: `${PUBLIC_URL}/api/agent`,
    // The next run goes on with a turn: `turn.step` keeps what must not be done twice.
    restart: 'rerun',
    // A call waits for its task for less time than the host gives. Questions that are not answered are kept for a week.
    timeouts: { blockingMs: 45_000, interruptedMs: week },
    // A message that the page sends again after a broken connection starts no second task.
    messages: { idempotency: true },
    retention: { closedAfterMs: week },
    logger: (level, message, { err }) => console.error(level, message, err ?? ''),
  });
