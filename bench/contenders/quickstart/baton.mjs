import { artifact, completed, createAgentServer } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';

async function* greet({ text }) {
  yield artifact('greeting', `Hello, ${text}!`);
  yield completed();
}
const card = { name: 'Greeter', description: 'Says hello' };
const server = createAgentServer({ card, agent: greet, store: memoryStore() });
await listen(server, { port: Number(process.argv[2]) });
