import { createAgentServer } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';
import { designBoat } from './agent.ts';
import { card } from './card.ts';

const { PORT = '4003', BATON_DATA = '.data' } = process.env;
const store = sqliteStore(`${BATON_DATA}/boat-designer.db`);
const server = createAgentServer({
  name: 'boat-designer',
  card,
  agent: designBoat,
  store,
});
const { url, close } = await listen(server, { port: Number(PORT) });
console.log(`The boat designer is at ${url}`);

const stop = () => close().then(() => store.close());
process.on('SIGINT', stop).on('SIGTERM', stop);
