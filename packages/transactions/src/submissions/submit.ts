import type { Message, Struct } from '@batonjs/protocol';
import { parseParams } from '@batonjs/protocol/parse-params';
import type { Caller } from '@batonjs/server';
import { derivedTaskId, scopeOf } from '@batonjs/server/internals';
import { type SqlDatabase, sessionOf } from '../sql-database.ts';
import { now } from '../tables/schema.ts';

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
