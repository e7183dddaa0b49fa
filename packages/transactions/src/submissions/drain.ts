import type { Message, SendMessageRequest, Struct } from '@batonjs/protocol';
import { A2AError, isPermanent } from '@batonjs/protocol/errors';
import { parseParams } from '@batonjs/protocol/parse-params';
import { backoffMs, sleep } from '@batonjs/protocol/timing';
import type { AgentServer, Caller } from '@batonjs/server';
import { derivedTaskId, type Inside, insideOf, scopeOf } from '@batonjs/server/internals';
import type { SqlSession } from '../once.ts';
import { type SqlDatabase, sessionOf } from '../sql-database.ts';
import type { SqlValue } from '../sql-driver.ts';
import { now } from '../tables/schema.ts';

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
  const { look, close } = draining(inside, sessionOf(database), pollMs);
  if (server.closing.aborted) void close();
  else server.closing.addEventListener('abort', close, { once: true });
  return {
    look,
    close() {
      server.closing.removeEventListener('abort', close);
      return close();
    },
  };
}

function draining<Tx>({ name, logger, submit }: Inside, session: SqlSession<Tx>, pollMs: number): Draining {
  const closing = new AbortController();
  const { signal } = closing;
  let latest: Promise<void> = Promise.resolve();
  let isFailing = false;

  function look(): Promise<void> {
    latest = latest.then(sendAll);
    return latest;
  }

  async function poll(): Promise<void> {
    while (!signal.aborted) {
      await look();
      await sleep(pollMs, signal, 'idle');
    }
  }

  /** Sends what waits. Never rejects: the table is read again later. */
  async function sendAll(): Promise<void> {
    try {
      while (!signal.aborted) {
        const claimed = await claim(session, name, batch);
        if (claimed.length > 0) {
          const outcomes = await Promise.all(claimed.map(send));
          await session.transaction(async (tx) => {
            for (const [statement, ...values] of outcomes) await session.query(tx, statement, values);
          });
        }
        isFailing = false;
        if (claimed.length === 0) return;
      }
    } catch (error) {
      if (!isFailing) logger('error', 'The submissions of the database cannot be read', { error });
      isFailing = true;
    }
  }

  async function send({ seq, request, caller, taskId, tries }: Submission): Promise<Outcome> {
    try {
      await submit(request, caller);
      return ['delete from baton_submissions where seq = $1', seq];
    } catch (error) {
      const about = { messageId: request.message.messageId, taskId, error };
      if (A2AError.is(error) && isPermanent(error)) {
        logger('error', 'A submission was refused', about);
        const shown = `${error.reason}: ${error.message}`;
        return ['update baton_submissions set error = $1 where seq = $2', shown, seq];
      }
      // Another process may send it at once.
      if (!signal.aborted && !A2AError.is(error)) logger('warn', 'A submission could not be sent', about);
      const pauseMs = signal.aborted ? 0 : backoffMs(tries + 1, { initialMs: 250, jitter: 0 });
      const due = `${now[session.dialect]} + $1`;
      return [`update baton_submissions set due = ${due} where seq = $2`, pauseMs, seq];
    }
  }

  const polling = poll();
  return {
    look,
    async close() {
      closing.abort();
      await polling;
      await latest;
    },
  };
}

/** A message that waits, and how often it was tried, this time included. */
interface Submission {
  readonly seq: number;
  readonly taskId: string;
  readonly request: SendMessageRequest;
  readonly caller: Caller | undefined;
  readonly tries: number;
}

/** The statement that records what became of a submission: it is deleted, kept with its error, or due again. */
type Outcome = readonly [statement: string, ...values: SqlValue[]];

/** How long a process has for what it claimed. Another one sends it again then, which the server recognises. */
const claimMs = 30_000;

/**
 * Claims at most `most` submissions for this process, the oldest first. One of a task waits for those of that task before it.
 */
function claim<Tx>(session: SqlSession<Tx>, agent: string, most: number): Promise<Submission[]> {
  const time = now[session.dialect];
  const skipLocked = session.dialect === 'postgres' ? 'for update of waiting skip locked' : '';
  return session.transaction(async (tx) => {
    const rows = await session.query(
      tx,
      `update baton_submissions set due = ${time} + ${claimMs}, tries = tries + 1 where seq in (
select seq from baton_submissions as waiting
where agent = $1 and error is null and due <= ${time} and not exists (
  select 1 from baton_submissions as earlier
  where earlier.agent = waiting.agent and earlier.task = waiting.task and earlier.error is null
  and earlier.seq < waiting.seq)
order by seq limit $2 ${skipLocked})
returning seq, task, request, tries`,
      [agent, most],
    );
    return rows.map(({ seq, task, request: json, tries }) => {
      const { request, caller }: Pick<Submission, 'request' | 'caller'> = JSON.parse(String(json));
      return { seq: Number(seq), taskId: String(task), request, caller, tries: Number(tries) };
    });
  });
}

/** Whose message it is, and for which agent. */
export interface SubmitOptions {
  /** The `name` of the server in its store. Default `'agent'`, as there. */
  readonly agent?: string | undefined;
  /** In whose name the message is sent, as `authenticate` would return it. Default: in no name, as without `authenticate`. */
  readonly caller?: Caller | undefined;
  readonly tenant?: string | undefined;
  /** The metadata of the request. */
  readonly metadata?: Struct | undefined;
}

/** The message as it will be sent. */
export interface Submitted {
  readonly messageId: string;
  /** The task that the message continues, or will begin. */
  readonly taskId: string;
}

/**
 * Submits a message in your own transaction: it is sent to the agent, once, if that commits, and never if it does not.
 * {@link drainSubmissions} sends it. Text is a message of one part; a message gets an id if it has none. Rejects with an
 * `A2AError` of `INVALID_PARAMS` for a value that is no message.
 */
export async function submit<Tx>(
  database: SqlDatabase<Tx>,
  tx: Tx,
  message: string | (Partial<Message> & Pick<Message, 'parts'>),
  { agent = 'agent', caller, tenant, metadata }: SubmitOptions = {},
): Promise<Submitted> {
  const session = sessionOf(database);
  const whole = {
    messageId: crypto.randomUUID(),
    role: 'ROLE_USER',
    ...(typeof message === 'string' ? { parts: [{ text: message }] } : message),
  };
  const request = parseParams('SendMessage', {
    message: whole,
    ...(tenant !== undefined && { tenant }),
    ...(metadata && { metadata }),
  });
  const { messageId } = request.message;
  const taskId = request.message.taskId || derivedTaskId(scopeOf(agent, tenant, caller), messageId);
  await session.ensureTables(tx);
  const time = now[session.dialect];
  await session.query(
    tx,
    `insert into baton_submissions (agent, task, request, at, due, tries) values ($1, $2, $3, ${time}, ${time}, 0)`,
    [agent, taskId, JSON.stringify({ request, caller })],
  );
  return { messageId, taskId };
}
