import type { StoredFact } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { type Agent, artifact, completed, working } from '../../src/index.ts';
import { createWorker } from '../../src/worker.ts';

const agent: Agent = async function* () {
  yield working();
  yield artifact('out', 'text');
  yield completed();
};

type Read = () => Promise<readonly StoredFact[]>;

/**
 * Sends a message to a server whose turns run in a worker. `first` does the first read of the server that finds facts
 * of the worker, given what resolves at the end of the task. Returns how many facts each read of the server found.
 */
async function readsOfSend(first: (read: Read, ended: Promise<void>) => ReturnType<Read>): Promise<number[]> {
  const memory = memoryStore();
  const ended = Promise.withResolvers<void>();
  const found: number[] = [];
  let isFirst = true;
  const store = change(memory, {
    readFacts:
      (readFacts) =>
      async (...args) => {
        const read = () => readFacts(...args);
        const isOfWorker = isFirst && (await read()).length > 0;
        if (isOfWorker) isFirst = false;
        const facts = isOfWorker ? await first(read, ended.promise) : await read();
        found.push(facts.length);
        return facts;
      },
  });
  const worker = createWorker({
    agent,
    store: change(memory, {
      commit: (commit) => async (one) => {
        const committed = await commit(one);
        if (one.head?.closed) ended.resolve();
        return committed;
      },
    }),
    logger: () => {},
  });
  onTestFinished(() => worker.close());
  // Sweeps would add reads, as many as there is time for.
  const server = serve(agent, { store, run: 'workers', timeouts: { sweepMs: Number.POSITIVE_INFINITY } });
  const { task } = await rpc(server, 'SendMessage', { message: say('go') });
  expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  return found;
}

describe('notifications of another process, while a read is under way', () => {
  it('lead to no read if that one finds what they tell of', async () => {
    const found = await readsOfSend((read, ended) => ended.then(read));
    expect(found.filter((facts) => facts > 0)).toHaveLength(1);
    expect(found.at(-1)).toBeGreaterThan(0);
  });

  it('lead to one more read if that one was too early', async () => {
    const found = await readsOfSend(async (read, ended) => {
      const early = await read();
      await ended;
      return early;
    });
    expect(found.filter((facts) => facts > 0)).toHaveLength(2);
    expect(found.at(-1)).toBeGreaterThan(0);
  });
});
