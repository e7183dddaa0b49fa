/** A server on a memory store that keeps many tasks, without HTTP around it. */
import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { artifact, completed, createAgentServer, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { threadCpu, vitals } from '../../harness/vitals.ts';
import { answer, given } from '../../harness/worker.ts';

/** `closedBytes`: the bound of the store; without, it keeps all. */
const { closedBytes = Number.POSITIVE_INFINITY } = given<{ closedBytes?: number }>();

const server = createAgentServer({
  card: { name: 'Keeper', description: 'Says 200 characters' },
  store: memoryStore({ closedBytes }),
  async *agent({ text }) {
    yield working();
    yield artifact('said', text.repeat(2));
    yield completed();
  },
});

let sent = 0;
let longestPause = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) longestPause = Math.max(longestPause, duration);
}).observe({ entryTypes: ['gc'] });

/** Sends 100 characters and waits for the answer. Resolves to milliseconds. */
async function send(): Promise<number> {
  const id = String(++sent).padStart(10, '0');
  const body = JSON.stringify({
    message: { messageId: `message-${id}`, role: 'ROLE_USER', parts: [{ text: id.repeat(10) }] },
  });
  const start = performance.now();
  const { status } = await server.handle({
    method: 'POST',
    path: '/message:send',
    query: new URLSearchParams(),
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    readBody: async () => ({ value: JSON.parse(body) }),
    signal: new AbortController().signal,
  });
  if (status !== 200) throw new Error(`A send was answered with ${status}`);
  return performance.now() - start;
}

const questions = {
  ...vitals,
  /**
   * Sends so many messages, 16 at a time. In milliseconds: the 99th percentile, how long the event loop did not turn, the
   * most CPU time that one of its turns took, and the longest collection; in microseconds: the CPU time of each.
   */
  async sends(count: number) {
    const times: number[] = [];
    vitals.stall();
    // The first interval after a reset is not counted.
    await sleep(50);
    longestPause = 0;
    const before = vitals.cpu();
    let left = count;
    let busiest = 0;
    const watch = (since: number) => {
      const now = threadCpu();
      busiest = Math.max(busiest, now - since);
      if (left > 0) setImmediate(watch, now);
    };
    setImmediate(watch, threadCpu());
    const one = async () => {
      while (left-- > 0) {
        times.push(await send());
        // Requests come through the event loop.
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await Promise.all(Array.from({ length: 16 }, one));
    const cpu = (vitals.cpu() - before) / count;
    await sleep(50);
    times.sort((a, b) => a - b);
    return {
      p99: times[Math.floor(count * 0.99)]!,
      stall: vitals.stall(),
      busiest,
      pause: longestPause,
      cpu,
    };
  },
};
export type KeptTasks = typeof questions;
answer(questions);
