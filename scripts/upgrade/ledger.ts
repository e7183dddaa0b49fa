import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KeptLog } from '../../test/histories/history.ts';
import { pick } from '../workload/random.ts';

const work = {
  chunks: 1,
  paceMs: 0,
  asks: 0,
  stubborn: false,
  takes: false,
  remembers: false,
  throws: false,
};

/** Sends one message after the other, each until it is answered, and keeps an account of them. */
export class Ledger {
  /** The task of each message that was answered, and when that was. */
  readonly #entries: { readonly messageId: string; readonly taskId: string; readonly at: number }[] = [];
  /** Answers with 503, and those of them without `Retry-After`. */
  readonly refused = { all: 0, unexplained: 0 };
  readonly #origins: () => readonly string[];
  readonly #ended: Promise<void>;
  #goesOn = true;

  constructor(origins: () => readonly string[]) {
    this.#origins = origins;
    this.#ended = this.#send();
  }

  get sent(): number {
    return this.#entries.length;
  }

  /** Resolves with the next answer: to the longest time between two since a moment. */
  async longestPause(since: number): Promise<number> {
    for (const before = this.sent; this.sent === before; ) await sleep(1);
    const times = this.#entries.map(({ at }) => at).filter((at) => at > since);
    return Math.ceil(Math.max(...times.map((at, n) => at - (times[n - 1] ?? since))));
  }

  /** Sends no more. Resolves once the last message was answered. */
  end(): Promise<void> {
    this.#goesOn = false;
    return this.#ended;
  }

  /** What the logs do not have once, in its task. */
  missingIn(logs: readonly KeptLog[]): string[] {
    const kept = logs.flatMap(({ taskId, facts }) =>
      facts.flatMap(({ fact }) =>
        fact.type === 'message-received' ? [`${fact.message.messageId} in ${taskId}`] : [],
      ),
    );
    const times = Object.groupBy(kept, (name) => name);
    return this.#entries
      .map(({ messageId, taskId }) => `${messageId} in ${taskId}`)
      .filter((name) => times[name]?.length !== 1);
  }

  async #send(): Promise<void> {
    for (let messageId = randomUUID(); this.#goesOn; await sleep(5)) {
      const taskId = await this.#ask(messageId).catch(() => undefined);
      if (taskId === undefined) continue;
      this.#entries.push({ messageId, taskId, at: performance.now() });
      messageId = randomUUID();
    }
  }

  /** The task of the message; undefined if it was refused. */
  async #ask(messageId: string): Promise<string | undefined> {
    const message = { messageId, role: 'ROLE_USER', parts: [{ data: work }] };
    const params = { message, configuration: { returnImmediately: true } };
    const response = await fetch(`${pick(Math.random, this.#origins())}/rerun/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }),
      signal: AbortSignal.timeout(5_000),
    });
    if (response.status === 503) {
      this.refused.all++;
      if (!response.headers.has('retry-after')) this.refused.unexplained++;
    }
    const { result } = (await response.json()) as { result?: { task: { id: string } } };
    return result?.task.id;
  }
}
