/** The task gateway, in front of an agent in the same process that reports progress when it is told to. */
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { extend, progress, taskProgress } from '@batonjs/extensions';
import { completed, createAgentServer, working } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { createTaskGateway } from '@batonjs/task-gateway';
import { listen } from '../../harness/listen.ts';
import { vitals } from '../../harness/vitals.ts';
import { answer } from '../../harness/worker.ts';

let started = Promise.withResolvers<{ count: number; everyMs: number }>();
const ticking = extend(
  {
    card: { name: 'Bench', description: 'Reports progress' },
    agent: async function* () {
      yield working('Waiting');
      const { count, everyMs } = await started.promise;
      for (let n = 1; n <= count; n++) {
        await pause(everyMs);
        yield working('Ticking', progress(n, count));
      }
      yield completed();
    },
  },
  taskProgress,
);
const agent = createAgentServer({ ...ticking, store: memoryStore() });
const gateway = createTaskGateway({
  types: { tick: agent },
  webSockets: { socketsPerCaller: 2_000 },
});
const http = createServer(nodeHandler(gateway));
gateway.attach(http);
const url = await listen(http);

const questions = {
  ...vitals,
  url: () => url,
  async submit(taskId: string): Promise<void> {
    const body = JSON.stringify({ taskId, type: 'tick', data: {} });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}/task`, { method: 'POST', headers, body });
    if (response.status !== 202) throw new Error(`Status ${response.status}`);
    // Its first report is behind it when sockets subscribe.
    for (let sequence = 0, status = ''; status !== 'in_progress'; ) {
      const read = await fetch(`${url}/task/${taskId}?after=${sequence}&wait=10`);
      ({ sequence, status } = (await read.json()) as { sequence: number; status: string });
    }
  },
  /** Lets all tasks report so many times and end. */
  produce(pace: { count: number; everyMs: number }): void {
    started.resolve(pace);
    started = Promise.withResolvers();
  },
};
export type TaskGatewayContender = typeof questions;
answer(questions);
