import type { AgentEvent } from '@batonjs/client';
import type { Message, TaskState } from '@batonjs/protocol';
import type { TimelineUpdate } from '../../src/api/timeline.ts';
import type { OpenStream } from '../../src/timeline/recording.ts';
import type { Tap } from '../../src/wire/recorded-fetch.ts';

export const at = '2026-01-01T00:00:00.000Z';
export const status = (state: string, timestamp?: string) => ({
  state: `TASK_STATE_${state}` as TaskState,
  ...(timestamp && { timestamp }),
});
export const taskEvent = (state: string, more: object = {}): AgentEvent =>
  ({ task: { id: 't', contextId: 'c', status: status(state, at), ...more } }) as AgentEvent;
export const statusEvent = (state: string, timestamp?: string): AgentEvent => ({
  statusUpdate: { taskId: 't', contextId: 'c', status: status(state, timestamp) },
});
export const message = (messageId: string): Message => ({
  messageId,
  role: 'ROLE_USER',
  parts: [{ text: messageId }],
});

/** A stream that is written by hand, and how it was opened. */
export function stream() {
  const waiting: PromiseWithResolvers<AgentEvent | undefined>[] = [Promise.withResolvers()];
  const opened: { tap: Tap; signal: AbortSignal; lastEventId?: string | undefined }[] = [];
  let id = 0;
  let read = 0;
  const open: OpenStream = async (tap, { signal, lastEventId }) => {
    opened.push({ tap, signal, lastEventId });
    return {
      get lastEventId() {
        return String(id);
      },
      async *[Symbol.asyncIterator]() {
        for (;;) {
          const next = await Promise.race([
            waiting[read]!.promise,
            new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
          ]);
          read += 1;
          if (!next) return;
          id += 1;
          yield next;
        }
      },
    } as never;
  };
  const last = () => waiting.at(-1)!;
  return {
    open,
    opened,
    send(...events: AgentEvent[]) {
      for (const event of events) {
        const { resolve } = last();
        waiting.push(Promise.withResolvers());
        resolve(event);
      }
    },
    end: () => {
      const { resolve } = last();
      waiting.push(Promise.withResolvers());
      resolve(undefined);
    },
    fail: (error: unknown) => {
      const { reject, promise } = last();
      promise.catch(() => {});
      waiting.push(Promise.withResolvers());
      reject(error);
    },
  };
}

/** Resolves when all that is due has happened. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Reads a feed until an update is enough. */
export async function read(
  feed: (signal: AbortSignal) => AsyncIterable<TimelineUpdate>,
  isEnough: (update: TimelineUpdate) => boolean,
  onUpdate: (update: TimelineUpdate) => void = () => {},
) {
  const reading = new AbortController();
  const updates: TimelineUpdate[] = [];
  for await (const update of feed(reading.signal)) {
    updates.push(update);
    onUpdate(update);
    if (isEnough(update)) reading.abort();
  }
  return updates;
}

export const isLive = ({ type }: TimelineUpdate) => type === 'live';
