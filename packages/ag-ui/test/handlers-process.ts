import { createServer } from 'node:http';
import { chatHandler } from '@batonjs/ai-sdk/chat-handler';
import { append, artifact, completed, createAgentServer, working } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';
import { agUiHandler } from '../src/ag-ui-handler.ts';

/** An agent behind AG-UI (`/ag-ui`) and `useChat` (`/chat`), in a process that a test kills in the middle of an answer. */
const { PORT, DATABASE = '', HANGS } = process.env;

const server = createAgentServer({
  card: { name: 'Counter', description: 'Counts' },
  async *agent() {
    yield working('Counting');
    yield artifact('answer', 'One, ');
    yield append('answer', 'two, ');
    if (HANGS) await new Promise(() => {});
    yield append('answer', 'three');
    yield completed();
  },
  store: sqliteStore(DATABASE),
  messages: { idempotency: true },
  restart: 'rerun',
  timeouts: { leaseMs: 1_000 },
  logger: () => {},
});
const agUi = nodeHandler(agUiHandler(server), { path: '/ag-ui' });
const chat = nodeHandler(chatHandler(server), { path: '/chat' });
createServer((request, response) =>
  (request.url?.startsWith('/chat') ? chat : agUi)(request, response),
).listen(Number(PORT), '127.0.0.1', () => console.log('The handlers listen'));
