import { A2AError, isPermanent } from '@batonjs/protocol/errors';
import { backoffMs, sleep } from '@batonjs/protocol/timing';
import type { AgentServer } from '@batonjs/server';
import { type Inside, insideOf } from '@batonjs/server/internals';
import { type SqlDatabase, sessionOf } from '../sql-database.ts';
import type { SqlSession } from '../sql-session.ts';
import { claim, type Outcome, type Submission, settle } from './rows.ts';

/** Settings of {@link drainSubmissions}. */
export interface DrainOptions {
  /** How often the table is read while nothing waits, in milliseconds. Default 1,000. */
  readonly pollMs?: number | undefined;
}

/** The messages of a database on their way to a server. */
export interface Draining {
  /** Reads the table at once, as after a commit of this process. Resolves when that was sent which waited. */
  look(): Promise<void>;
  /** Sends nothing more. Resolves when the messages on their way have arrived or are back in the table. */
  close(): Promise<void>;
}

/** How many messages are sent at once. */
const batch = 16;

/**
 * Sends the messages that {@link submit} put into the database to the server whose name they have, until it closes. Any
 * number of processes may do so. A message that the server refuses stays in `baton_submissions` with its `error`, which
 * is also logged; one that it cannot take now is sent again later. Throws `TypeError` for options that cannot work.
 */
export function drainSubmissions<Tx>(
  server: AgentServer,
  database: SqlDatabase<Tx>,
  { pollMs = 1_000 }: DrainOptions = {},
): Draining {
  const inside = insideOf(server);
  if (!inside) throw new TypeError('The server must be one of `createAgentServer`');
  if (!(pollMs > 0)) throw new TypeError('`pollMs` must be more than 0');
  const drain = new Drain(inside, sessionOf(database), pollMs);
  const close = () => drain.close();
  if (server.closing.aborted) void close();
  else server.closing.addEventListener('abort', close, { once: true });
  return {
    look: () => drain.look(),
    close() {
      server.closing.removeEventListener('abort', close);
      return close();
    },
  };
}

class Drain<Tx> {
  readonly #inside: Inside;
  readonly #session: SqlSession<Tx>;
  readonly #closing = new AbortController();
  #latest: Promise<void> = Promise.resolve();
  #isFailing = false;
  readonly #polling: Promise<void>;

  constructor(inside: Inside, session: SqlSession<Tx>, pollMs: number) {
    this.#inside = inside;
    this.#session = session;
    this.#polling = this.#poll(pollMs);
  }

  look(): Promise<void> {
    this.#latest = this.#latest.then(() => this.#sendAll());
    return this.#latest;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#polling;
    await this.#latest;
  }

  async #poll(pollMs: number): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.look();
      await sleep(pollMs, signal, 'idle');
    }
  }

  /** Sends what waits. Never rejects: the table is read again later. */
  async #sendAll(): Promise<void> {
    const { name, logger } = this.#inside;
    try {
      while (!this.#closing.signal.aborted) {
        const claimed = await claim(this.#session, name, batch);
        if (claimed.length > 0)
          await settle(this.#session, await Promise.all(claimed.map((submission) => this.#send(submission))));
        this.#isFailing = false;
        if (claimed.length === 0) return;
      }
    } catch (error) {
      if (!this.#isFailing) logger('error', 'The submissions of the database cannot be read', { error });
      this.#isFailing = true;
    }
  }

  async #send({ seq, request, caller, taskId, tries }: Submission): Promise<Outcome> {
    const { logger, submit } = this.#inside;
    try {
      await submit(request, caller);
      return { seq, done: true };
    } catch (error) {
      const about = { messageId: request.message.messageId, taskId, error };
      if (A2AError.is(error) && isPermanent(error)) {
        logger('error', 'A submission was refused', about);
        return { seq, error: `${error.reason}: ${error.message}` };
      }
      // Another process may send it at once.
      if (this.#closing.signal.aborted) return { seq, pauseMs: 0 };
      if (!A2AError.is(error)) logger('warn', 'A submission could not be sent', about);
      return { seq, pauseMs: backoffMs(tries + 1, { initialMs: 250, jitter: 0 }) };
    }
  }
}
