import { type Agent, artifact, completed, data, inputRequired, working } from '@batonjs/server';
import type { Work } from './plan.ts';

/**
 * An agent that appends numbered chunks to one artifact, asks questions in between and completes. A turn goes on after
 * the chunks that are there, so that in the end each number is there once, however often turns were run again.
 */
export function countingAgent(sleep: (ms: number) => Promise<void>): Agent {
  return async function* (turn) {
    const { chunks, paceMs, asks, stubborn, takes } = turn.values as unknown as Work;
    const asked = turn.messages.filter(({ messageId }) => messageId.startsWith('question-')).length;
    yield working();
    let next = turn.task?.artifacts?.[0]?.parts.length ?? 0;
    for (; next < (asked + 1) * chunks; next++) {
      if (paceMs > 0) await sleep(paceMs);
      if (turn.signal.aborted && !stubborn) return;
      const chunk = artifact('count', data({ chunk: next, attempt: turn.attempt }));
      yield next === 0 ? chunk : { ...chunk, append: true };
      if (takes && turn.inbox.size > 0) await turn.inbox.take();
    }
    if (asked === asks) return yield completed();
    yield inputRequired({
      messageId: `question-${asked + 1}`,
      role: 'ROLE_AGENT',
      parts: [{ text: 'And?' }],
    });
  };
}

/** How many chunks a task has when it completes. */
export const totalChunks = ({ chunks, asks }: Work): number => chunks * (asks + 1);
