import { artifact, completed, createAgentServer } from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import { memoryStore } from '@batonjs/store-memory';
import express from 'express';

async function* greet({ text }) {
  yield artifact('greeting', `Hello, ${text}!`);
  yield completed();
}
const card = { name: 'Greeter', description: 'Says hello' };
const server = createAgentServer({ card, agent: greet, store: memoryStore() });
express().use(a2aExpress(server)).listen(Number(process.argv[2]), '127.0.0.1');
