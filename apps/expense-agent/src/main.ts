import { createAgentServer } from '@batonjs/server';
import { listen } from '@batonjs/server-express';
import { sqliteStore } from '@batonjs/store-sqlite';
import { approveExpense } from './agent.ts';
import { card } from './card.ts';

const { PORT = '4001', BATON_DATA = '.data' } = process.env;
const store = sqliteStore(`${BATON_DATA}/expense.db`);
const server = createAgentServer({ name: 'expense', card, agent: approveExpense, store });
const { url, close } = await listen(server, { port: Number(PORT) });
console.log(`The expense agent is at ${url}`);

const stop = () => close().then(() => store.close());
process.on('SIGINT', stop).on('SIGTERM', stop);
