import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
type Frame = any;

/** A WebSocket of a client, with all frames that it received. */
export interface Socket {
  readonly ws: WebSocket;
  readonly frames: readonly Frame[];
  send(frame: unknown): void;
  /** The first frame from now on, or received and not yet taken, for which `matches` is true. */
  next(matches?: (frame: Frame) => unknown): Promise<Frame>;
  /** Resolves to the close code. */
  readonly closed: Promise<number>;
}

/** Connects to the updates of a service. Rejects with the status of a refusal. */
export async function openSocket(url: string, query = '', options: ClientOptions = {}): Promise<Socket> {
  const ws = new WebSocket(`${url.replace('http', 'ws')}/task/updates${query}`, options);
  onTestFinished(() => ws.terminate());
  const frames: Frame[] = [];
  let taken = 0;
  let changed = Promise.withResolvers<void>();
  ws.on('message', (data) => {
    frames.push(JSON.parse(String(data)));
    changed.resolve();
    changed = Promise.withResolvers();
  });
  const closed = once(ws, 'close').then(([code]) => code as number);
  closed.catch(() => {});
  await new Promise((resolve, reject) => {
    ws.once('open', resolve).once('error', reject);
    ws.once('unexpected-response', (_, response) => reject(new Error(`Status ${response.statusCode}`)));
  });
  return {
    ws,
    frames,
    closed,
    send: (frame) =>
      ws.send(typeof frame === 'string' || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame)),
    async next(matches = () => true) {
      for (;;) {
        while (taken < frames.length) {
          const frame = frames[taken];
          taken += 1;
          if (matches(frame)) return frame;
        }
        await changed.promise;
      }
    },
  };
}

/** The updates of a task that a socket received, also in batches. */
export const updatesOf = ({ frames }: Socket, taskId = 't'): Frame[] =>
  frames
    .flatMap((frame) => (frame.event === 'task_updates' ? frame.updates : [frame]))
    .filter((frame) => frame.event === 'task_update' && frame.taskId === taskId);
