import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@batonjs/client';
import { extend, formInput, inputRequired, skill, typedSkills } from '@batonjs/extensions';
import { completed, createAgentServer, working } from '@batonjs/server';
import { sqliteStore } from '@batonjs/store-sqlite';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { z } from 'zod';
import { mcpHandler } from '../../../src/index.ts';

// A server of MCP whose tasks are in a file: its arguments are a folder and a port.
const [, , folder = '', port = '0'] = process.argv;

/** Resolves when a test lets the job go on. */
async function gate(name: string, signal: AbortSignal): Promise<void> {
  while (!existsSync(join(folder, name))) await sleep(20, undefined, { signal });
}

const job = skill({
  id: 'job',
  name: 'Job',
  description: 'Works, asks, and works on',
  input: z.object({}),
  async *run({ step, values, signal }) {
    if (typeof values.city !== 'string') {
      yield working('First half');
      await step('first half', () => gate('first', signal));
      return yield inputRequired('Which city?', { form: z.object({ city: z.string().min(2) }) });
    }
    yield working('Second half');
    await step('second half', () => gate('second', signal));
    yield completed(`Booked in ${values.city}`);
  },
});
const soon = skill({
  id: 'soon',
  name: 'Soon',
  description: 'Ends soon',
  input: z.object({ number: z.int() }),
  async *run({ input: { number } }) {
    yield working('On it');
    await sleep(200 + (number % 7) * 50);
    yield completed(`Number ${number}`);
  },
});

const card = { name: 'Worker', description: 'Has long jobs', version: '1.0.0' };
const server = createAgentServer({
  ...extend(typedSkills(card, job, soon), formInput),
  store: sqliteStore(join(folder, 'tasks.db')),
  restart: { maxAttempts: 100 },
  timeouts: { leaseMs: 600 },
  logger: () => {},
});
const agent = await connect('http://localhost', { fetch: server.fetch });
const handler = mcpHandler(agent, { tasks: { pollIntervalMs: 50 } });
const listener = createServer(toNodeHandler(handler)).listen(Number(port), '127.0.0.1');
await once(listener, 'listening');
console.log(`listening at ${(listener.address() as { port: number }).port}`);
process.once('SIGTERM', async () => {
  listener.close();
  await handler.close();
  await server.close({ graceMs: 0 });
  process.exit();
});
