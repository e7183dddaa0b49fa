import { createAgentServer, reply } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';

export const echo = createAgentServer({
  card: { name: 'Echo', description: 'Says it again' },
  agent: ({ text }) => reply(text),
  store: memoryStore(),
  publicUrl: 'http://localhost:3000/agents/echo',
});
