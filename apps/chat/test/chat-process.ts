import { createServer } from 'node:http';
import { createAgentServer } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { chatAgent, chatCard, serveChat } from '../src/index.ts';

/**
 * The chat in a process of its own, which the red button kills. Its agent writes the next sentence of a story when the
 * test posts to `/go`.
 */
const { PORT, DATABASE, FOLDER } = process.env as Record<string, string>;

let allowed = 0;
const waiting: (() => void)[] = [];
const pause = (signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    if (allowed > 0) {
      allowed -= 1;
      resolve();
    } else waiting.push(resolve);
  });

const store = DATABASE ? sqliteStore(DATABASE) : memoryStore();
const server = createAgentServer({
  card: chatCard,
  agent: chatAgent({ pause }),
  store,
  messages: { idempotency: true },
  restart: 'rerun',
  timeouts: { leaseMs: 1_000 },
  logger: () => {},
});
const handle = nodeHandler(server, { path: '/agents/chat' });
const page = serveChat({
  folder: FOLDER!,
  agent: '../agents/chat',
  kill: () => process.kill(process.pid, 'SIGKILL'),
});
const http = createServer((request, response) => {
  if (request.url === '/go') {
    const next = waiting.shift();
    if (next) next();
    else allowed += 1;
    response.end();
  } else if (request.url?.startsWith('/agents/')) handle(request, response);
  else {
    request.url = request.url?.slice('/chat'.length) || '/';
    page(request, response);
  }
});
http.listen(Number(PORT), '127.0.0.1', () => console.log(`The chat is at http://127.0.0.1:${PORT}/chat/`));
