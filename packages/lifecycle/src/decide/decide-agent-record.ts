import { A2AError } from '@batonjs/protocol/errors';
import { compact } from '@batonjs/protocol/json';
import type { CallbackOpened, CallbackReceived, MemoryChanged, TurnLogged } from '../facts/facts.ts';
import type { MemoryUpdate } from '../facts/task-update.ts';
import { callbackOf } from '../state/agent-record.ts';
import type { State } from '../state/state.ts';
import type { Command } from './command.ts';

type WithoutTime<F> = Omit<F, 'format' | 'at'>;

/** What the agent remembers and forgets. Empty if that changes nothing. */
export function changeMemory({ agent }: State, update: MemoryUpdate): [] | [WithoutTime<MemoryChanged>] {
  // Not assigned one by one: the name `__proto__` would set the prototype.
  const changes = compact(update);
  const removed = Object.keys(update).filter(
    (name) => update[name] === undefined && agent && Object.hasOwn(agent.memory, name),
  );
  const hasRemoved = removed.length > 0;
  if (!hasRemoved && Object.keys(changes).length === 0) return [];
  return [{ type: 'memory-changed', changes, ...(hasRemoved && { removed }) }];
}

/** Lines of the turn that runs, or of the latest one: a hook that is called for a task that waits may log too. */
export function keepLines(
  { openTurn, turns }: State,
  { lines, full }: Command & { type: 'log' },
): [WithoutTime<TurnLogged>] {
  const { number: turn = turns, attempt = 1 } = openTurn ?? {};
  return [{ type: 'turn-logged', turn, attempt, lines, ...(full && { full }) }];
}

/** The running turn asks for a value from outside. */
export function openCallback(
  { agent }: State,
  opened: Omit<WithoutTime<CallbackOpened>, 'type'>,
): [WithoutTime<CallbackOpened>] {
  if (callbackOf(agent, opened.id))
    throw new A2AError('INVALID_AGENT_RESPONSE', `There is a callback with the id "${opened.id}" already`);
  return [{ type: 'callback-opened', ...opened }];
}

/** The value comes, once and in time. */
export function receiveCallback(
  { agent, closed }: State,
  id: string,
  value: unknown,
  at: string,
): [WithoutTime<CallbackReceived>] {
  const callback = callbackOf(agent, id);
  if (!callback) throw new A2AError('TASK_NOT_FOUND', 'There is no such callback');
  if (callback.receivedAt !== undefined)
    throw new A2AError('MESSAGE_ID_CONFLICT', 'The callback was used already');
  if (closed) throw new A2AError('UNSUPPORTED_OPERATION', 'The task is finished');
  if (callback.expiresAt <= at) throw new A2AError('UNSUPPORTED_OPERATION', 'The callback has expired');
  return [{ type: 'callback-received', id, name: callback.name, value: value ?? null }];
}
