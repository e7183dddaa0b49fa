import { isRipe, type MessageReceived } from '@batonjs/lifecycle';
import type { Message } from '@batonjs/protocol';
import type { Inbox } from '../agent/agent.ts';
import { type Clock, isoTime } from '../base/timing/clock.ts';
import { nextFact } from '../log/wait-for-fact.ts';
import type { TaskWriter } from './task-writer.ts';

/**
 * The messages of a task that no turn has taken yet, for the turn that runs. Those that are put off are not among them
 * before their time. `again`: what earlier attempts of the turn took while they ran; it comes first, and is not recorded
 * again.
 */
export function createInbox(
  writer: TaskWriter,
  signal: AbortSignal,
  clock: Clock,
  again: readonly MessageReceived[],
): Inbox {
  const repeated = [...again];
  const ripe = () => {
    const now = isoTime(clock.now());
    return writer.state.untaken.filter((received) => isRipe(received, now));
  };
  let taking: Promise<unknown> = Promise.resolve();
  const takeNext = async (): Promise<Message | undefined> => {
    while (!signal.aborted && !writer.live.isOver) {
      const known = repeated.shift();
      if (known) return structuredClone(known.message);
      const message = ripe()[0]?.message;
      if (message) {
        await writer.write(() => [{ type: 'take', messageId: message.messageId }]);
        return structuredClone(message);
      }
      await nextChange();
    }
    return undefined;
  };
  /** Resolves at the next fact, and when the time of a message that was put off has come. */
  const nextChange = async (): Promise<void> => {
    const times = writer.state.untaken.map(({ notBefore = '' }) => Date.parse(notBefore));
    if (times.length === 0) return nextFact(writer.live, signal);
    const ms = Math.min(...times) - clock.now();
    const changed = new AbortController();
    const end = () => changed.abort();
    signal.addEventListener('abort', end);
    try {
      const { signal: until } = changed;
      await Promise.race([nextFact(writer.live, until), clock.sleep(ms, until)]);
    } finally {
      end();
      signal.removeEventListener('abort', end);
    }
  };
  const inbox: Inbox = {
    get size() {
      return repeated.length + ripe().length;
    },
    take() {
      const taken = taking.then(takeNext);
      taking = taken.catch(() => {});
      return taken;
    },
    async *[Symbol.asyncIterator]() {
      for (let message = await inbox.take(); message; message = await inbox.take()) yield message;
    },
  };
  return inbox;
}
