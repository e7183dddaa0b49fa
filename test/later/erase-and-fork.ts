import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eraseTasks, forkTask } from '@batonjs/operator';
import { createAgentServer } from '@batonjs/server';
import { erasingOptions } from './erasing-agent.ts';
import { openStore, type StoreAddress } from './open-store.ts';

/** A process that erases and forks as it is asked by POST, and answers with what came of it, or with the name of the error. */
const errors: string[] = [];
const store = openStore(JSON.parse(process.argv[2]!) as StoreAddress);
const server = createAgentServer({ ...erasingOptions(errors), store });

const acts = {
  errors: async () => errors,
  erase: (which: object) => eraseTasks(server, which),
  fork: async (taskId: string) => await forkTask(server, taskId),
};

const asked = createServer(async (request, response) => {
  let body = '';
  for await (const some of request) body += some;
  const { act, given } = JSON.parse(body) as { act: keyof typeof acts; given: never };
  const answer = await acts[act](given).catch((error: { reason?: string; message: string }) => ({
    error: error.reason ?? error.message,
  }));
  response.end(JSON.stringify(answer));
});
asked.listen(0, '127.0.0.1', () =>
  console.log(`ready http://127.0.0.1:${(asked.address() as AddressInfo).port}/`),
);
