import type { Callback, State } from '@batonjs/lifecycle';
import { isSameJson } from '@batonjs/protocol/json';
import { type Issue, readOwnSchema } from '@batonjs/protocol/json-schema';
import { isSameText } from '@batonjs/protocol/security';
import { StoreError } from '@batonjs/store';
import { isoTime } from '../../base/timing/clock.ts';
import type { LiveTask } from '../../log/live-task.ts';
import { decideAll, reserveSize } from '../../log/write/decision.ts';
import { appendOpenly } from '../../log/write/write.ts';
import { orderFor } from '../../turns/order/schedule.ts';
import {
  type CallbackToken,
  hashOf,
  readCallbackToken,
  signedText,
} from '../../turns/outside/open-callback.ts';
import type { Dependencies } from '../call/call-context.ts';

export type { CallbackToken };

/**
 * What became of a value: it is in the log (now, or since the same value came before), or why not. `issues`: of a value
 * that does not fit the schema, which may be sent again with another one. `link`: it takes a person's answer, and no value.
 */
export type CallbackOutcome =
  | 'accepted'
  | 'unknown'
  | 'used'
  | 'expired'
  | 'ended'
  | 'link'
  | readonly Issue[];

type CallbackDependencies = Pick<Dependencies, 'tasks' | 'clock' | 'options'>;

/** The token that a part of a path is, if this store signed it: nothing of the task is read for another one. */
export async function signedToken(
  text: string,
  { queue, callbacks }: Pick<Dependencies['options'], 'queue' | 'callbacks'>,
): Promise<CallbackToken | undefined> {
  const read = readCallbackToken(text);
  const isSigned = read && callbacks?.keys.isSigned(signedText(queue, read.token), read.signature);
  return (await isSigned) ? read?.token : undefined;
}

/**
 * Takes the value of a callback, once, and starts the next turn. Not an operation of the protocol: the token is the
 * credential. Rejects with `RESOURCE_EXHAUSTED` if the log of the task or the queue is full.
 */
export async function receiveCallback(
  token: CallbackToken,
  value: unknown,
  dependencies: CallbackDependencies,
): Promise<CallbackOutcome> {
  const { tasks } = dependencies;
  const live = await tasks.open(token.scope, token.taskId);
  if (!live) return 'unknown';
  try {
    return await receive(live, token, value, dependencies);
  } finally {
    tasks.release(live);
  }
}

async function receive(
  live: LiveTask,
  token: CallbackToken,
  value: unknown,
  dependencies: CallbackDependencies,
): Promise<CallbackOutcome> {
  const { queue, limits, schedule } = dependencies.options;
  // As the facts count: after the clock was set back, they go on from the latest one.
  const clock = isoTime(dependencies.clock.now());
  const now = clock < live.state.at ? live.state.at : clock;
  const outcome = () => outcomeOf(callbackIn(live.state, token, queue), live.state.closed, value, now);
  const refused = outcome();
  if (refused) return refused;
  try {
    const { facts } = decideAll(live.state, [{ type: 'receive-callback', id: token.id, value }], now);
    const giveBack = reserveSize(live, facts, limits);
    const turn = { queue, want: true, ...orderFor(schedule) };
    // By its name, the store takes one of several that come at once, in any process.
    const { repeated } = await appendOpenly(live, facts, `callback:${token.id}`, turn).finally(giveBack);
    if (!repeated) return 'accepted';
    await live.refresh();
  } catch (error) {
    if (!StoreError.is(error, 'LOG_CLOSED')) throw error;
    await live.refresh();
  }
  return outcome() ?? 'ended';
}

/** Why the value is not taken; undefined if it is. */
function outcomeOf(
  callback: Callback | undefined,
  isClosed: boolean,
  value: unknown,
  now: string,
): CallbackOutcome | undefined {
  if (!callback) return 'unknown';
  if (callback.answers) return 'link';
  // First: an answer of 2xx may have been lost, and the task may have gone on since.
  if (callback.receivedAt !== undefined) return isSameJson(callback.value, value) ? 'accepted' : 'used';
  if (isClosed) return 'ended';
  if (callback.expiresAt <= now) return 'expired';
  return callback.schema === undefined ? undefined : readOwnSchema(callback.schema)(value);
}

/** The callback of a token, if its secret is the right one. */
export function callbackIn(
  { agent }: State,
  { id, secret }: CallbackToken,
  queue: string,
): Callback | undefined {
  const callback = agent?.callbacks[id];
  const secretHash = callback?.secretHash;
  return secretHash !== undefined && isSameText(hashOf(queue, secret), secretHash) ? callback : undefined;
}
