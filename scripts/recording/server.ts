/** The server of the recording: an agent that reads six pages, with its tasks in a SQLite file. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Agent, append, artifact, completed, createAgentServer } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';

const { FILE = '', PORT = '', WAITS_AT } = process.env;

const reader: Agent = async function* ({ task, signal }) {
  let page = task?.artifacts?.[0]?.parts.length ?? 0;
  while (page++ < 6) {
    console.log(`reading page ${page}`);
    // One page takes so long that a kill finds the agent in the middle of it.
    await pause(page === Number(WAITS_AT) ? 600_000 : 50, undefined, { signal });
    yield page === 1 ? artifact('notes', `notes of page ${page}`) : append('notes', `notes of page ${page}`);
  }
  yield completed();
};

const server = createAgentServer({
  card: { name: 'Reader', description: 'Reads six pages.' },
  agent: reader,
  store: sqliteStore(FILE),
  restart: 'rerun',
  timeouts: { leaseMs: 1_000 },
  logger: (level, message) => level === 'warn' && console.log(message),
});
const { url } = await listen(server, { port: Number(PORT) });
console.log(`listening on ${url}`);
