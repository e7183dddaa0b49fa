import { createAgentServer } from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import { sqliteStore } from '@batonjs/store-sqlite';
import express from 'express';
import { approveExpense } from './agent.ts';
import { card } from './card.ts';

const { PORT = '4001', BATON_DATA = '.data' } = process.env;
const url = `http://127.0.0.1:${PORT}`;
const store = sqliteStore(`${BATON_DATA}/expense.db`);
const server = createAgentServer({ name: 'expense', card, agent: approveExpense, store, publicUrl: url });
const listener = express()
  .use(a2aExpress(server))
  .listen(Number(PORT), '127.0.0.1', (error) => {
    if (error) throw error;
    console.log(`The expense agent is at ${url}`);
  });

async function close(): Promise<void> {
  await server.close();
  listener.close();
  await store.close();
}
process.once('SIGINT', close).once('SIGTERM', close);
