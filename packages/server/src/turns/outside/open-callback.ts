import type { Command, QuestionLink, State } from '@batonjs/lifecycle';
import { readOwnSchema } from '@batonjs/protocol/json-schema';
import type { Answer, Scope } from '@batonjs/store';
import { sha256 } from '#bytes';
import type {
  CallbackRequest,
  CallbackSchema,
  OpenedCallback,
  ReceivedCallback,
} from '../../agent/callback.ts';
import { randomText } from '../../base/system/new-id.ts';
import { type Clock, momentOf } from '../../base/timing/clock.ts';
import { toToken, valuesIn } from '../../base/token.ts';
import { wakeCommand } from '../order/wake-time.ts';
import type { CallbackKeys } from './callback-keys.ts';

/** The task that asks for a value. */
export interface CallbackTask {
  readonly scope: Scope;
  readonly taskId: string;
  readonly queue: string;
  /** Undefined without the option `callbacks`. */
  readonly callbacks: { readonly url: string; readonly keys: Pick<CallbackKeys, 'sign'> } | undefined;
  readonly clock: Pick<Clock, 'now'>;
  write(commands: (state: State) => readonly Command[]): Answer<unknown>;
}

/**
 * Records that the task takes a value, and asks for a turn when its time is over; or that it takes a person's answer to
 * its question, which asks for none. Rejects with `TypeError` or `RangeError` for a request that cannot work, or without
 * the option `callbacks`.
 */
export async function openCallback(
  { scope, taskId, queue, callbacks, clock, write }: CallbackTask,
  request: CallbackRequest & Pick<QuestionLink, 'assignedBy'>,
): Promise<OpenedCallback> {
  const { name = 'callback', expiresMs, schema, answeredBy, assignedBy } = request;
  if (!callbacks)
    throw new TypeError(
      '`turn.callback` needs the option `callbacks` of the server or worker that runs the agent',
    );
  mustWork(request);
  const now = clock.now();
  let expiresAt = momentOf(now + expiresMs);
  const readable = schema && toJsonSchema(schema);
  const [id, secret] = [randomText(9), randomText(32)];
  await write((state) => {
    // The facts go on from the latest one: after a clock that was ahead, it would be over by them.
    if (state.at > expiresAt) expiresAt = momentOf(Date.parse(state.at) + expiresMs);
    return [
      ...(state.task ? [] : [{ type: 'create', taskId } as const]),
      {
        type: 'open-callback',
        name,
        id,
        secretHash: hashOf(queue, secret),
        expiresAt,
        ...(readable && { schema: readable }),
        ...(answeredBy !== undefined && {
          answers: { by: answeredBy, after: latestMessageOf(state), ...(assignedBy && { assignedBy }) },
        }),
      },
      // The agent may end its turn now, and is called at the latest when no value came.
      ...(answeredBy !== undefined || (state.wakeAt !== undefined && state.wakeAt <= expiresAt)
        ? []
        : [wakeCommand(state, expiresAt, now)]),
    ];
  });
  return opened({ scope, taskId, id, secret }, expiresAt, { queue, callbacks });
}

/** The URL of a token. */
export async function opened(
  token: CallbackToken,
  expiresAt: string,
  { queue, callbacks }: Pick<CallbackTask, 'queue'> & { callbacks: NonNullable<CallbackTask['callbacks']> },
): Promise<OpenedCallback> {
  const text = writeCallbackToken(token, await callbacks.keys.sign(signedText(queue, token)));
  return { url: `${callbacks.url}/callbacks/${text}`, expiresAt: new Date(expiresAt) };
}

/** The id of the latest message of a client. */
export const latestMessageOf = ({ conversation: { messages } }: State): string =>
  messages.items.findLast(({ role }, index) => index < messages.length && role === 'ROLE_USER')?.messageId ??
  '';

/** Throws `TypeError` or `RangeError` for a request that cannot work. */
export function mustWork({ name = 'callback', expiresMs, schema, answeredBy }: CallbackRequest): void {
  if (typeof name !== 'string' || name === '') throw new TypeError('The name of a callback is a text');
  if (!(expiresMs > 0)) throw new RangeError('`expiresMs` of a callback must be more than 0');
  if (answeredBy === undefined) return;
  if (typeof answeredBy !== 'string' || answeredBy === '' || answeredBy.length > mostOfName)
    throw new TypeError(`\`answeredBy\` of a callback is a text of 1 to ${mostOfName} characters`);
  if (schema) throw new TypeError('A callback with `answeredBy` takes the form of the question: no `schema`');
}

const mostOfName = 200;

/** The values that came, by the names that were asked for; of several of one name the latest. */
export function receivedIn(agent: State['agent']): Readonly<Record<string, ReceivedCallback>> {
  const latest = new Map<string, { readonly value: unknown; readonly receivedAt: string }>();
  for (const { name, value = null, receivedAt } of Object.values(agent?.callbacks ?? {})) {
    if (receivedAt === undefined || (latest.get(name)?.receivedAt ?? '') > receivedAt) continue;
    latest.set(name, { value, receivedAt });
  }
  // Agents get copies: they may change them without changing the state.
  return Object.fromEntries(
    [...latest].map(([name, { value, receivedAt }]) => [
      name,
      { value: structuredClone(value), receivedAt: new Date(receivedAt) },
    ]),
  );
}

/** Throws `TypeError` for a schema that no process could read. */
function toJsonSchema(schema: CallbackSchema): Record<string, unknown> {
  const standard = Object(schema)['~standard']?.jsonSchema;
  const json = standard ? standard.input({ target: 'draft-2020-12' }) : JSON.parse(JSON.stringify(schema));
  try {
    readOwnSchema(json);
  } catch (cause) {
    throw new TypeError('The schema of a callback cannot be read', { cause });
  }
  return json;
}

/** What the last part of a callback's URL says. Who has it may send the value. */
export interface CallbackToken {
  readonly scope: Scope;
  readonly taskId: string;
  readonly id: string;
  readonly secret: string;
}

/** What of a token is signed: it is that of one agent of those on a store. */
export const signedText = (queue: string, { scope, taskId, id, secret }: CallbackToken): string =>
  JSON.stringify([queue, scope, taskId, id, secret]);

/** The token as one part of a path. */
const writeCallbackToken = ({ scope, taskId, id, secret }: CallbackToken, signature: string): string =>
  toToken(scope, taskId, id, secret, signature);

/** The token that a part of a path is, and its signature; undefined if it is none. */
export function readCallbackToken(
  text: string,
): { readonly token: CallbackToken; readonly signature: string } | undefined {
  const members = valuesIn(text).filter((member) => typeof member === 'string');
  const [scope, taskId, id, secret, signature] = members as [Scope, string, string, string, string];
  // Other texts may read as the same one.
  if (toToken(...members) !== text || members.length !== 5) return undefined;
  return { token: { scope, taskId, id, secret }, signature };
}

/** What the log keeps of a secret: it does not tell the secret, and is that of one agent of those on a store. */
export const hashOf = (queue: string, secret: string): string =>
  sha256(JSON.stringify([queue, secret]), 'base64url');
