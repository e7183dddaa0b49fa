import { type AgentServerOptions, createAgentServer } from '@batonjs/server';
import { agent, card } from './agent.ts';

const week = 7 * 24 * 60 * 60 * 1_000;
const { PUBLIC_URL, VERCEL_PROJECT_PRODUCTION_URL: production } = process.env;
const publicUrl = PUBLIC_URL ?? (production && `https://${production}`);

/** The agent on a host that keeps no process: it works while a call waits, and in runs. */
export const serverOn = (store: AgentServerOptions['store']) =>
  createAgentServer({
    // Its tasks in the store have this name. Each agent on a database needs one of its own.
    name: '{{name}}',
    card,
    agent,
    store,
    run: 'due',
    // The next run goes on with a turn: `turn.step` keeps what must not be done twice.
    restart: 'rerun',
    // A call waits for its task for less time than the host gives. Questions that are not answered are kept for a week.
    timeouts: { blockingMs: 45_000, interruptedMs: week },
    retention: { closedAfterMs: week },
    logger: (level, message, { err }) => console.error(level, message, err ?? ''),
    ...(publicUrl && { publicUrl }),
  });
