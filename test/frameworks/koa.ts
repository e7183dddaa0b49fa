import { createAgentServer, reply } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import Koa from 'koa';

export const echo = createAgentServer({
  card: { name: 'Echo', description: 'Says it again' },
  agent: ({ text }) => reply(text),
  store: memoryStore(),
});
const agent = nodeHandler(echo, { path: '/agents/echo' });

export const app = new Koa();
app.use((context, next) => {
  if (!/^\/agents\/echo(\/|$)/.test(context.path)) return next();
  // The agent writes the answer: Koa sends nothing of its own.
  context.respond = false;
  agent(context.req, context.res);
});
app.use((context) => {
  context.body = 'Hello from Koa';
});
