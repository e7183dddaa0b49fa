import { openStore } from '@batonjs/sample-store';
import { createAgentServer } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { assistant, retry } from './agent.ts';
import { card } from './card.ts';
import { keepsPrompts, modelFrom } from './model.ts';

const { PORT = '4006', BATON_DATA = '.data', BATON_STORE } = process.env;
const store = await openStore(BATON_STORE || `sqlite:${BATON_DATA}/assistant.db`);
const server = createAgentServer({
  name: 'assistant',
  card,
  agent: assistant(modelFrom(process.env), { keepPrompts: keepsPrompts(process.env) }),
  store,
  restart: 'rerun',
  retry,
});
const { url, close } = await listen(server, { port: Number(PORT) });
console.log(`The assistant is at ${url}`);

const stop = () => close().then(() => store.close());
process.on('SIGINT', stop).on('SIGTERM', stop);
