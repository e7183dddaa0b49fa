import { createServer } from 'node:http';
import { card } from './agent.ts';
import { createApp, keysFrom } from './app.ts';
import { closeStore, store } from './store.ts';

const { HOST = '127.0.0.1', PORT = '4000', PUBLIC_URL, API_KEYS, WEBHOOK_HOSTS = '' } = process.env;

const { app, server } = createApp({
  keys: keys(),
  webhookHosts: WEBHOOK_HOSTS.split(',').filter(Boolean),
  store,
  logger: (level, message, details) => console.error(level, message, details),
  ...(PUBLIC_URL && { publicUrl: PUBLIC_URL }),
});

const http = createServer(app);
http.once('error', (error) => {
  const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  console.error(isTaken ? `Another program listens on port ${PORT}: end it, or set PORT` : error);
  process.exit(1);
});
http.listen(Number(PORT), HOST, async () => {
  const state = await server.readiness();
  if (state.isReady) console.log(`${card.name} is at http://${HOST}:${PORT}`);
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

function keys(): Map<string, string> {
  try {
    return keysFrom(API_KEYS);
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
}
