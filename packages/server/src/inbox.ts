import type { Message } from '@batonjs/protocol';
import type { Inbox } from './agent.ts';
import type { LiveTask } from './live-task.ts';

/** The messages of a task that no turn has taken yet, for the turn that runs. */
export function createInbox(
  live: LiveTask,
  signal: AbortSignal,
  takeMessage: (messageId: string) => Promise<unknown>,
): Inbox {
  let taking: Promise<unknown> = Promise.resolve();
  const takeNext = async (): Promise<Message | undefined> => {
    while (!signal.aborted && !live.state.closed) {
      const message = live.state.untaken[0]?.message;
      if (message) {
        await takeMessage(message.messageId);
        return message;
      }
      await live.change(signal);
    }
    return undefined;
  };
  const inbox: Inbox = {
    get size() {
      return live.state.untaken.length;
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
