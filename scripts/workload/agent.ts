import {
  type Agent,
  type AgentServerOptions,
  artifact,
  completed,
  data,
  failed,
  inputRequired,
  type Turn,
  working,
} from '@batonjs/server';
import type { Work } from './plan.ts';

/** What a task fails with whose memory is not that of its log. */
export const wrongMemory = 'The memory is wrong';

/** Enough tries for the agent, however often its store fails. */
export const retryOf = (leaseMs: number): AgentServerOptions['retry'] => {
  const backoff = { initialMs: leaseMs / 20, maxMs: leaseMs / 4 };
  return { retries: 1_000, backoff, steps: { retries: 1_000, backoff } };
};

/**
 * An agent that appends numbered chunks to one artifact, asks questions in between and completes. A turn goes on after
 * the chunks that are there, so that in the end each number is there once, however often turns were run again.
 */
export function countingAgent(sleep: (ms: number) => Promise<void>): Agent {
  return async function* (turn) {
    const { chunks, paceMs, asks, stubborn, takes, remembers, throws } = turn.values as unknown as Work;
    const asked = turn.messages.filter(({ messageId }) => messageId.startsWith('question-')).length;
    yield working();
    let next = turn.task?.artifacts?.[0]?.parts.length ?? 0;
    const remembered = turn.memory.get('chunks') ?? 0;
    if (remembers && remembered !== next) return yield failed(`${wrongMemory}: ${remembered} of ${next}`);
    for (; next < (asked + 1) * chunks; next++) {
      if (paceMs > 0) await sleep(paceMs);
      if (turn.signal.aborted && !stubborn) return;
      if (throws) await fail(turn, next);
      const chunk = artifact('count', data({ chunk: next, attempt: turn.attempt }));
      yield {
        ...chunk,
        ...(next > 0 && { append: true }),
        ...(remembers && { memory: { chunks: next + 1 } }),
      };
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

/** Throws once before every fourth chunk. The first try of a step before another one fails. */
async function fail({ memory, step }: Turn, chunk: number): Promise<void> {
  if (chunk % 4 === 1)
    await step(thrownAt(chunk), {}, ({ attempt }) => {
      if (attempt === 1) throw new Error(thrownAt(chunk));
      return attempt;
    });
  if (chunk % 4 !== 3 || memory.get('thrown') === chunk) return;
  await memory.set('thrown', chunk);
  throw new Error(thrownAt(chunk));
}

const thrownAt = (chunk: number) => `Chunk ${chunk} throws`;

/** How many chunks a task has when it completes. */
export const totalChunks = ({ chunks, asks }: Work): number => chunks * (asks + 1);
