import { createServer } from 'node:http';
import { createAgentServer } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { agent, card } from './agent.ts';
import { servePage } from './serve-page.ts';
import { closeStore, store } from './store.ts';

const { HOST = '127.0.0.1', PORT = '4000', PUBLIC_URL } = process.env;
const week = 7 * 24 * 60 * 60 * 1_000;

const server = createAgentServer({
  // Its tasks in the store have this name. Each agent on a database needs one of its own.
  name: '{{name}}',
  card,
  agent,
  store,
  // A turn whose process died is run again: `turn.step` keeps what must not be done twice.
  restart: 'rerun',
  // Questions that are not answered, and tasks that ended, are kept for a week.
  timeouts: { interruptedMs: week },
  // A message that the page sends again after a broken connection starts no second task.
  messages: { idempotency: true },
  retention: { closedAfterMs: week },
  logger: (level, message, { err }) => console.error(level, message, err ?? ''),
  ...(PUBLIC_URL && { publicUrl: PUBLIC_URL }),
});
const handle = nodeHandler(server);

const http = createServer(async (request, response) => {
  const { pathname: path } = new URL(request.url ?? '/', 'http://localhost');
  if (path === '/livez') response.end();
  else if (path === '/readyz') response.writeHead((await server.ready()) ? 200 : 503).end();
  else if (path === '/chat' || path.startsWith('/chat/')) await servePage(path, response);
  else handle(request, response);
});
http.once('error', (error) => {
  const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  console.error(isTaken ? `Another program listens on port ${PORT}: end it, or set PORT` : error);
  process.exit(1);
});
http.listen(Number(PORT), HOST, async () => {
  const state = await server.readiness();
  if (state.isReady)
    console.log(`${card.name} is at http://${HOST}:${PORT}, its page at http://${HOST}:${PORT}/chat`);
  else console.error(`${card.name} takes no messages yet: the log says why`);
  // The tasks of this name are those of another agent.
  if (!state.isReady && state.reason === 'refused') process.exit(1);
});

/** Accepts no more requests and lets running turns finish before the process ends. */
const stop = async () => {
  await server.close({ graceMs: 20_000 });
  http.close(closeStore);
};
process.once('SIGINT', stop).once('SIGTERM', stop);
