import { isRipe } from '@batonjs/lifecycle';
import type { Message } from '@batonjs/protocol';
import type { Inbox } from '../agent/agent.ts';
import { nextFact } from '../log/wait-for-fact.ts';
import type { TaskWriter } from './task-writer.ts';

/**
 * The messages of a task that no turn has taken yet, for the turn that runs. Those that are put off are not among them
 * before their time. `now`: ISO 8601, UTC, milliseconds.
 */
export function createInbox(writer: TaskWriter, signal: AbortSignal, now: () => string): Inbox {
  const ripe = () => writer.state.untaken.filter((received) => isRipe(received, now()));
  let taking: Promise<unknown> = Promise.resolve();
  const takeNext = async (): Promise<Message | undefined> => {
    while (!signal.aborted && !writer.live.isOver) {
      const message = ripe()[0]?.message;
      if (message) {
        await writer.write(() => [{ type: 'take', messageId: message.messageId }]);
        return structuredClone(message);
      }
      await nextFact(writer.live, signal);
    }
    return undefined;
  };
  const inbox: Inbox = {
    get size() {
      return ripe().length;
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
