import type { Message } from '@batonjs/protocol';
import type { Inbox } from '../agent/agent.ts';
import { nextFact } from '../log/wait-for-fact.ts';
import type { TaskWriter } from './task-writer.ts';

/** The messages of a task that no turn has taken yet, for the turn that runs. */
export function createInbox(writer: TaskWriter, signal: AbortSignal): Inbox {
  let taking: Promise<unknown> = Promise.resolve();
  const takeNext = async (): Promise<Message | undefined> => {
    while (!signal.aborted && !writer.live.isOver) {
      const message = writer.state.untaken[0]?.message;
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
      return writer.state.untaken.length;
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
