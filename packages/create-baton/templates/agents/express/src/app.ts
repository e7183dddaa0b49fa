import { apiKey } from '@batonjs/auth';
import { type AgentServer, type AgentServerOptions, createAgentServer } from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import express, { type Express } from 'express';
import { agent, card } from './agent.ts';

/** What is another in tests than when it runs. */
export interface AppOptions extends Pick<AgentServerOptions, 'store' | 'logger' | 'publicUrl'> {
  /** The names of the callers by their keys. */
  readonly keys: ReadonlyMap<string, string>;
  /** Hosts inside of this network that webhooks may lead to, such as `localhost:*`. Public ones may always. */
  readonly webhookHosts: readonly string[];
}

const week = 7 * 24 * 60 * 60 * 1_000;

/** The app with the agent at `/`, and the server behind it. Add your own routes and middleware here. */
export function createApp({ keys, webhookHosts, ...options }: AppOptions): {
  app: Express;
  server: AgentServer;
} {
  const server = createAgentServer({
    // Its tasks in the store have this name. Each agent on a database needs one of its own.
    name: '{{name}}',
    card,
    agent,
    // A turn whose process died is run again: `turn.step` keeps what must not be done twice.
    restart: 'rerun',
    // Who calls without a key is answered 401. A caller sees its own tasks only.
    authenticate: apiKey({
      header: 'X-API-Key',
      keys: new Map(Array.from(keys, ([key, scope]) => [key, { scope }])),
    }),
    push: { allow: webhookHosts },
    retention: { closedAfterMs: week },
    ...options,
    // Questions that are not answered, and tasks that ended, are kept for a week.
    timeouts: { interruptedMs: week, ...options.timeouts },
  });
  const app = express();
  app.get('/livez', (_request, response) => void response.sendStatus(200));
  app.get('/readyz', async (_request, response) => {
    response.sendStatus((await server.ready()) ? 200 : 503);
  });
  app.use('/', a2aExpress(server));
  return { app, server };
}

/** Reads `caller:key,other:key`. Throws a sentence about an entry that is none. */
export function keysFrom(text = ''): Map<string, string> {
  const keys = new Map<string, string>();
  for (const entry of text.split(',').filter(Boolean)) {
    const [, caller = '', key = ''] = /^([\w.-]+):(\S{16,})$/.exec(entry.trim()) ?? [];
    if (!key) throw new Error('An entry of API_KEYS is not "caller:key" with a key of 16 characters or more');
    keys.set(key, caller);
  }
  if (keys.size === 0)
    throw new Error('API_KEYS is not set: give each caller a key in .env, as .env.example shows');
  return keys;
}
