import type { MessageReceived } from '@batonjs/lifecycle';
import { isMessageDue } from '@batonjs/lifecycle/internals';
import type { Message } from '@batonjs/protocol';
import type { Inbox } from '../agent/agent.ts';
import { type Clock, isoTime } from '../base/timing/clock.ts';
import { nextFact } from '../log/cursor.ts';
import type { LiveTask } from '../log/live-task.ts';
import type { TurnTask } from './turn-dependencies.ts';

/** The task whose messages they are. */
interface Receiving extends Pick<TurnTask, 'state' | 'write'> {
  readonly live: LiveTask;
}

/**
 * The messages of a task that no turn has taken yet, for the turn that runs. Those that are postponed are not among them before
 * their time. A class, because a getter in an object literal would outlive its turn: see docs/notes/what-a-request-costs.md.
 */
export class TurnInbox implements Inbox {
  readonly #writer: Receiving;
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  readonly #again: MessageReceived[];
  readonly #shown: (message: Message) => Message;
  #taking: Promise<unknown> = Promise.resolve();

  /** `again`: what earlier attempts of the turn took while they ran; it comes first, and is not recorded again. */
  constructor(
    writer: Receiving,
    signal: AbortSignal,
    clock: Clock,
    again: readonly MessageReceived[],
    shown = (message: Message) => message,
  ) {
    this.#writer = writer;
    this.#shown = shown;
    this.#signal = signal;
    this.#clock = clock;
    this.#again = [...again];
  }

  get size(): number {
    return this.#again.length + this.#due.length;
  }

  // A function of its own, so that agents may take it out of the inbox.
  readonly take = (): Promise<Message | undefined> => {
    const taken = this.#taking.then(() => this.#takeNext());
    this.#taking = taken.catch(() => {});
    return taken;
  };

  async *[Symbol.asyncIterator](): AsyncGenerator<Message> {
    for (let message = await this.take(); message; message = await this.take()) yield message;
  }

  get #due(): readonly MessageReceived[] {
    const now = isoTime(this.#clock.now());
    return this.#writer.state.pending.filter((received) => isMessageDue(received, now));
  }

  async #takeNext(): Promise<Message | undefined> {
    while (!this.#signal.aborted && !this.#writer.live.isOver) {
      const known = this.#again.shift();
      if (known) return this.#shown(structuredClone(known.message));
      const message = this.#due[0]?.message;
      if (message) {
        await this.#writer.write(() => [{ type: 'take', messageId: message.messageId }]);
        return this.#shown(structuredClone(message));
      }
      await this.#nextChange();
    }
    return undefined;
  }

  /** Resolves at the next fact, and when the time of a message that was postponed has come. */
  async #nextChange(): Promise<void> {
    const { live, state } = this.#writer;
    const times = state.pending.map(({ notBefore = '' }) => Date.parse(notBefore));
    if (times.length === 0) return nextFact(live, this.#signal);
    const ms = Math.min(...times) - this.#clock.now();
    const changed = new AbortController();
    const end = () => changed.abort();
    this.#signal.addEventListener('abort', end);
    try {
      const { signal: until } = changed;
      await Promise.race([nextFact(live, until), this.#clock.sleep(ms, until)]);
    } finally {
      end();
      this.#signal.removeEventListener('abort', end);
    }
  }
}
