import { createAgentServer, reply } from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import { memoryStore } from '@batonjs/store-memory';
import { NestFactory } from '@nestjs/core';

export const echo = createAgentServer({
  card: { name: 'Echo', description: 'Says it again' },
  agent: ({ text }) => reply(text),
  store: memoryStore(),
});

class AppModule {}

export const app = await NestFactory.create(AppModule, { logger: false });
// Before `listen`, which adds the body parser of Nest.
app.use('/agents/echo', a2aExpress(echo));
