/** Baton, on Express or on `node:http`, with any of its stores. */
import { createServer } from 'node:http';
import { createAgentServer } from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import { nodeHandler } from '@batonjs/server-node';
import express from 'express';
import { inTurn } from '../../harness/in-turn.ts';
import { listen } from '../../harness/listen.ts';
import { vitals } from '../../harness/vitals.ts';
import { answer, given } from '../../harness/worker.ts';
import { agent, emittingAgent, start, waitingAgents } from '../agents.ts';
import { type StoreChoice, storeOf, type TaskStore } from '../stores.ts';

/**
 * `counted`: counts what the store is given, which takes time. `emits`: the agent emits chunks without waiting for each,
 * and does nothing else.
 */
export type BatonOptions = StoreChoice & {
  http: 'express' | 'node:http';
  counted?: boolean;
  emits?: boolean;
  /** Which processes run turns; `workers`: others. */
  run?: 'here' | 'workers';
};

const options = given<BatonOptions>();
let groups: number[] = [];
let handed = 0;
const store = storeOf(options, (size) => void groups.push(size));
const server = createAgentServer({
  card: { name: 'Bench', description: 'Answers quotes' },
  agent: options.emits ? emittingAgent : agent,
  store: options.counted ? counting(store) : store,
  run: options.run,
  limits: { turns: 20_000, followersPerTask: 20_000 },
});
const http = createServer(
  options.http === 'express' ? express().use(a2aExpress(server)) : nodeHandler(server),
);
const url = await listen(http);

function counting(store: TaskStore): TaskStore {
  return {
    ...store,
    commit(commit) {
      const { facts, head, snapshot } = commit;
      handed += JSON.stringify({ facts, head, snapshot }).length;
      return store.commit(commit);
    },
  };
}

function handle(path: string, value: unknown, headers: Record<string, string> = {}) {
  return server.handle({
    method: 'POST',
    path,
    query: new URLSearchParams(),
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
    readBody: async () => ({ value }),
    signal: new AbortController().signal,
  });
}

const questions = {
  ...vitals,
  url: () => url,
  /** The sizes of the transactions of SQLite since this was asked last, in order. */
  groups(): number[] {
    const sizes = groups;
    groups = [];
    return sizes;
  },
  start,
  /** Has so many quotes made, without HTTP around them. */
  async fill(count: number): Promise<void> {
    let left = count;
    await inTurn(count, 64, async () => {
      const message = { messageId: `filled-${--left}`, role: 'ROLE_USER', parts: [{ text: 'quote' }] };
      const { status, body } = await handle('/message:send', { message });
      if (status !== 200) throw new Error(String(body));
    });
  },
  /** Starts so many tasks with `ticks`, without HTTP around it. Resolves to their ids, when all agents wait. */
  async begin({ tasks, text }: { tasks: number; text: string }): Promise<string[]> {
    const ids: string[] = [];
    const before = waitingAgents();
    for (let n = 0; n < tasks; n++) {
      const message = { messageId: `begun-${n}-${text}`, role: 'ROLE_USER', parts: [{ text }] };
      const params = { message, configuration: { returnImmediately: true } };
      const { status, body } = await handle('/message:send', params);
      if (status !== 200) throw new Error(String(body));
      ids.push((JSON.parse(String(body)) as { task: { id: string } }).task.id);
    }
    while (waitingAgents() < before + tasks) await new Promise((resolve) => setImmediate(resolve));
    return ids;
  },
  /** Resumes a stream after an event, without HTTP around it. Resolves to milliseconds and the number of events. */
  async resume({ taskId, lastEventId }: { taskId: string; lastEventId: string }) {
    const start = performance.now();
    const { body } = await handle(`/tasks/${taskId}:subscribe`, undefined, { 'last-event-id': lastEventId });
    let events = 0;
    for await (const text of body as AsyncIterable<string>) events += text.split('\n\n').length - 1;
    return { ms: performance.now() - start, events };
  },
  /** How many bytes of facts, heads and snapshots the store was handed so far, if they are counted. */
  handed: () => handed,
};
export type Baton = typeof questions;
answer(questions);
