import { appendFileSync } from 'node:fs';
import { createAgentServer } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';
import { streamText, tool } from 'ai';
import { z } from 'zod';
import { streamedAgent } from '../../src/index.ts';
import { modelAt } from '../openai-server.ts';

/** A streamed agent in a process of its own, whose tool notes that it runs, and does not end if `HANG` is set. */
const { PORT, DATABASE, MODEL, NOTES, HANG } = process.env as Record<string, string>;

const count = tool({
  inputSchema: z.object({ to: z.number() }),
  execute: async ({ to }) => {
    appendFileSync(NOTES!, 'run\n');
    if (HANG) await new Promise(() => {});
    return to;
  },
});
const server = createAgentServer({
  card: { name: 'Counter', description: 'Counts with a model' },
  agent: streamedAgent(({ messages, signal, model, tools }) =>
    streamText({
      model: model(modelAt(MODEL!)),
      messages,
      abortSignal: signal,
      tools: tools({ count }),
      stopWhen: ({ steps }) => steps.length === 3,
      onError() {},
    }),
  ),
  store: sqliteStore(DATABASE!),
  restart: 'rerun',
  timeouts: { leaseMs: 600 },
  logger: () => {},
});
const { url } = await listen(server, { port: Number(PORT) });
console.log(`The counter is at ${url}`);
