import { createAgentServer, reply } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';

const echo = createAgentServer({
  card: { name: 'Echo', description: 'Says it again' },
  agent: ({ text }) => reply(text),
  store: memoryStore(),
  publicUrl: 'http://localhost:3000/agents/echo',
});
const serve = (request: Request) => echo.fetch(request);

export { serve as DELETE, serve as GET, serve as OPTIONS, serve as POST };
export const dynamic = 'force-dynamic';
