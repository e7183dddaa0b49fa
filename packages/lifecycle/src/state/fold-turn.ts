import { costsWith } from '../facts/costs.ts';
import type {
  MessageReceived,
  MessageTaken,
  StepCompleted,
  StepFailed,
  TurnFailed,
  TurnPaused,
  TurnStarted,
} from '../facts/facts.ts';
import { changeable, type Own, withMember } from '../values/own.ts';
import { keepStep } from './agent-record.ts';
import { addResult, type Draft } from './state.ts';

export function startTurn(next: Draft, { turn, attempt, messageIds, at, version }: TurnStarted): void {
  const { taken, left } = take(next.pending, messageIds);
  const earlier = next.openTurn?.number === turn ? next.openTurn : undefined;
  if (taken.length > 0) next.taken = attempt > 1 ? [...next.taken, ...taken] : taken;
  next.turns = turn;
  const isAsked = messageIds.length > 0 || next.woken !== undefined;
  const replacedWake = attempt > 1 ? earlier?.replacedWake : isAsked ? next.wakeAt : undefined;
  // A later attempt is the same turn: what was asked for while an earlier one ran is asked for still.
  if (attempt === 1) {
    next.woken = undefined;
    next.wakeAt = undefined;
  }
  if (messageIds.length > 0) next.immediateWakes = undefined;
  next.pending = left;
  next.openTurn = {
    number: turn,
    attempt,
    messageIds,
    takenLater: earlier?.takenLater,
    startedAt: at,
    ...(version !== undefined && { version }),
    replacedWake,
    steps: earlier?.steps,
    stepFailures: earlier?.stepFailures,
    failures: earlier?.failures,
    pauses: earlier?.pauses,
    pausedUntil: undefined,
  };
}

export function takeMessage(next: Draft, fact: MessageTaken): void {
  const { taken, left } = take(next.pending, [fact.messageId]);
  const { openTurn } = next;
  next.pending = left;
  next.taken = [...next.taken, ...taken];
  if (!openTurn) return;
  const { messageIds, takenLater = [] } = openTurn;
  next.openTurn = {
    ...openTurn,
    messageIds: [...messageIds, fact.messageId],
    takenLater: [...takenLater, fact.messageId],
  };
}

export function completeStep(next: Draft, fact: StepCompleted, own?: Own): void {
  const { name, result, keep, usage } = fact;
  const { openTurn } = next;
  if (usage) {
    next.tokens = (next.tokens ?? 0) + (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
    next.costs = costsWith(next.costs, usage);
  }
  // JSON has no undefined: a snapshot would forget that a step without a result was completed.
  const value = result ?? null;
  if (keep) next.agent = keepStep(next.agent, name, value, own);
  if (!openTurn) return;
  const steps = keep ? openTurn.steps : addResult(openTurn.steps, name, value);
  const { stepFailures } = openTurn;
  if (!stepFailures || !Object.hasOwn(stepFailures, name)) {
    next.openTurn = { ...openTurn, steps };
    return;
  }
  const failures = changeable(stepFailures, own);
  delete failures[name];
  next.openTurn = { ...openTurn, steps, stepFailures: failures };
}

export function failStep(next: Draft, { name, attempt, message, retryAt, at }: StepFailed, own?: Own): void {
  const { openTurn } = next;
  if (!openTurn) return;
  const failure = { attempt, message, ...(retryAt !== undefined && { at, retryAt }) };
  next.openTurn = { ...openTurn, stepFailures: withMember(openTurn.stepFailures, name, failure, own) };
}

export function failTurn(next: Draft, { retryAt }: TurnFailed): void {
  const { openTurn } = next;
  if (!openTurn) return;
  const { failures = 0, stepFailures } = openTurn;
  next.openTurn = {
    ...openTurn,
    failures: failures + 1,
    // The agent is called again, and so are the steps that failed for good.
    stepFailures: retryAt === undefined ? stepFailures : undefined,
    pausedUntil: retryAt,
  };
}

export function pauseTurn(next: Draft, { until }: TurnPaused): void {
  const { openTurn } = next;
  if (!openTurn) return;
  next.openTurn = { ...openTurn, pauses: (openTurn.pauses ?? 0) + 1, pausedUntil: until };
}

function take(pending: readonly MessageReceived[], ids: readonly string[]) {
  // For a few ids, making a set costs more than it saves.
  const wanted = ids.length > 8 ? new Set(ids) : undefined;
  const isWanted = (id: string) => (wanted ? wanted.has(id) : ids.includes(id));
  const taken: MessageReceived[] = [];
  const left: MessageReceived[] = [];
  for (const received of pending) (isWanted(received.message.messageId) ? taken : left).push(received);
  return { taken, left };
}
