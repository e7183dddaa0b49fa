/** The floor under updates: WebSockets of `ws` that all get frames as long as the gateway's. Knows no tasks. */
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import { listen } from '../../harness/listen.ts';
import { vitals } from '../../harness/vitals.ts';
import { answer } from '../../harness/worker.ts';

const http = createServer();
const sockets = new WebSocketServer({ server: http, perMessageDeflate: false });
const url = await listen(http);
const frame = (taskId: string, status: object, sequence: number) =>
  JSON.stringify({ event: 'task_update', taskId, ...status, sequence });

sockets.on('connection', (socket) =>
  socket.on('message', (data) => {
    const { taskId } = JSON.parse(String(data)) as { taskId: string };
    socket.send(frame(taskId, { status: 'in_progress' }, 0));
  }),
);

const questions = {
  ...vitals,
  url: () => url,
  submit(_taskId: string): void {},
  async produce({ count, everyMs }: { count: number; everyMs: number }): Promise<void> {
    const write = (status: object, sequence: number) => {
      for (const socket of sockets.clients) socket.send(frame('task-0', status, sequence));
    };
    for (let n = 1; n <= count; n++) {
      await pause(everyMs);
      write({ status: 'in_progress', progress: Math.round((100 * n) / count) }, n);
    }
    write({ status: 'completed', result: {} }, count + 1);
  },
};
export type BareWs = typeof questions;
answer(questions);
