import { type Child, stepOf } from '@batonjs/lifecycle';
import type { Message } from '@batonjs/protocol';
import {
  completeRetry,
  createIdempotencyKeys,
  type JsonOf,
  type StepFunction,
  type StepOptions,
  secretStep,
  systemClock,
  type Turn,
  takenLater,
} from '@batonjs/server/turns';
import { type TurnGround, turnOn } from '../run-turn.ts';
import { type AttemptReplay, ReplayOver } from './attempt-replay.ts';
import { storeAt, type TaskRecording } from './recording.ts';

/** The turn of a recorded attempt: it reads the log, and writes nothing. */
export function replayTurn(
  replay: AttemptReplay,
  { related, taskId }: TaskRecording,
  signal: AbortSignal,
): Turn {
  const { before } = replay.recorded;
  const ground: TurnGround = {
    taskId,
    signal,
    state: () => replay.state,
    write: (commands) => replay.write(commands),
    store: storeAt(related, before.openTurn?.startedAt ?? before.at),
    clock: { ...systemClock, now: () => replay.now },
    steps: completeRetry().steps,
    // The turn that is repeated has logged its lines, and none is compared.
    keep() {},
    inbox: inboxOf(replay),
  };
  return turnOn(ground, {
    step: replaySteps(replay),
    idempotencyKey: replayKeys(replay),
    children: childrenOf(replay),
  });
}

/** The keys of the attempt, by the secret in its log. */
function replayKeys(replay: AttemptReplay): Turn['idempotencyKey'] {
  return createIdempotencyKeys({
    done(name) {
      const index = replay.find((fact) => fact.type === 'step-completed' && fact.name === name);
      const fact = replay.factAt(index);
      if (fact?.type !== 'step-completed') return stepOf(replay.state, name);
      replay.do(index);
      return { result: fact.result };
    },
    complete() {
      if (replay.isWhole)
        replay.differ('new-step', 'The agent asks for an idempotency key, and the log has none');
      else replay.finish();
      throw new ReplayOver();
    },
  });
}

/** The messages that the attempt took, when it took them. */
function inboxOf(replay: AttemptReplay): Turn['inbox'] {
  const again = takenLater(replay.recorded.before);
  const take = async (): Promise<Message | undefined> => {
    const known = again.shift();
    if (known) return structuredClone(known.message);
    const index = replay.find(({ type }) => type === 'message-taken');
    const fact = replay.factAt(index);
    // The turn took no more while it ran.
    if (fact?.type !== 'message-taken') return new Promise(() => {});
    await replay.whenNext(index);
    const taken = replay.state.taken.find(({ message }) => message.messageId === fact.messageId);
    return structuredClone(taken?.message);
  };
  return {
    take,
    get size() {
      return again.length + replay.state.pending.length;
    },
    async *[Symbol.asyncIterator]() {
      for (let next = await take(); next; next = await take()) yield next;
    },
  };
}

/**
 * The children as they were at the end of the attempt: a call whose reply is known does not ask its agent. What a call
 * passed on meanwhile is done then. Where the log does not have the reply, the replay ends.
 */
function childrenOf(replay: AttemptReplay): Readonly<Record<string, Child>> {
  const { before, facts, end } = replay.recorded;
  const latest: Record<string, Child> = { ...before.children };
  for (const { fact } of facts.slice(0, end.at))
    if (fact.type === 'child-updated') latest[fact.name] = fact.child;
  // Code that reads all children, such as the end of a task that cancels those that still run, calls none.
  let isListing = false;
  const look = (name: string | symbol): void => {
    if (isListing || typeof name !== 'string' || !Object.hasOwn(latest, name) || replay.isOver) return;
    const news = replay.childFacts(name);
    const { reply } = Object(latest[name]?.record) as { readonly reply?: unknown };
    if (reply === undefined && news.length > 0) {
      replay.stopBefore(Math.min(...news));
    } else if (news.length > 0) replay.do(...news);
  };
  return new Proxy(latest, {
    ownKeys(target) {
      isListing = true;
      queueMicrotask(() => {
        isListing = false;
      });
      return Reflect.ownKeys(target);
    },
    get(target, name) {
      look(name);
      return Reflect.get(target, name);
    },
    getOwnPropertyDescriptor(target, name) {
      look(name);
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
  });
}

/** The steps of an attempt, answered from its log: no function of a step is called. */
function replaySteps(replay: AttemptReplay): Turn['step'] {
  const used = new Set<string>();
  return async <T>(
    name: string,
    first: StepOptions | StepFunction<T>,
    second?: StepFunction<T>,
  ): Promise<JsonOf<T>> => {
    const options = typeof first === 'function' ? undefined : first;
    if (typeof (options ? second : first) !== 'function')
      throw new TypeError(`The step "${name}" needs a function`);
    if (used.has(name)) throw new TypeError(`The step "${name}" was used in this turn already`);
    used.add(name);
    return (await resultOf(replay, name, options?.keep)) as JsonOf<T>;
  };
}

async function resultOf(replay: AttemptReplay, name: string, keep: 'task' | undefined): Promise<unknown> {
  const { before } = replay.recorded;
  const known = stepOf(before, name);
  if (known) return structuredClone(known.result);
  for (;;) {
    const failed = replay.find((fact) => fact.type === 'step-failed' && fact.name === name);
    const completed = replay.find((fact) => fact.type === 'step-completed' && fact.name === name);
    const fact = replay.factAt(failed === -1 ? completed : failed);
    if (fact?.type === 'step-failed') {
      await replay.whenNext(failed);
      if (fact.retryAt === undefined) throw new Error(fact.message);
      continue;
    }
    if (fact?.type === 'step-completed') {
      if (fact.keep !== keep) return changed(replay, name, keep, completed);
      await replay.whenNext(completed);
      return structuredClone(fact.result ?? null);
    }
    const failures = before.openTurn?.stepFailures;
    const last = failures && Object.hasOwn(failures, name) ? failures[name] : undefined;
    if (last && last.retryAt === undefined)
      throw Object.assign(new Error(`The step "${name}" failed in ${last.attempt} tries: ${last.message}`), {
        code: 'STEP_FAILED',
      });
    return unknown(replay, name);
  }
}

function changed(
  replay: AttemptReplay,
  name: string,
  keep: 'task' | undefined,
  index: number,
): Promise<never> {
  const [now, then] = keep ? ['the whole task', 'its turn'] : ['its turn', 'the whole task'];
  replay.differ(
    'changed-step',
    `The step "${name}" is kept for ${now}, and the log has it for ${then}`,
    index,
  );
  return never();
}

/**
 * A step that the log lacks. In an attempt that was cut it ran then, or would have run. Otherwise the replay goes on with
 * the result of the step that the log has there, to find out whether it has another name now.
 */
function unknown(replay: AttemptReplay, name: string): Promise<unknown> {
  if (replay.unknown) return never();
  const index = replay.find(({ type }) => type === 'step-completed');
  const fact = replay.factAt(index);
  const isAtEnd = replay.first === -1;
  if (!replay.isWhole) {
    if (isAtEnd) replay.finish();
    return never();
  }
  if (fact?.type !== 'step-completed') {
    replay.differ('new-step', `The agent runs the step "${name}", which the log lacks`);
    return never();
  }
  replay.unknown = { name, standsFor: fact.name };
  return Promise.resolve(structuredClone(fact.result ?? null));
}

/** What the log says of an unknown step, once the agent has run on with it. */
export function explainUnknown(replay: AttemptReplay): void {
  const { name, standsFor } = replay.unknown ?? {};
  if (name === undefined) return;
  const index = replay.find((fact) => fact.type === 'step-completed' && fact.name === standsFor);
  replay.isOver = false;
  replay.differences.length = 0;
  if (index === -1) replay.differ('new-step', `The agent runs the step "${name}", which the log lacks`);
  else
    replay.differ(
      'renamed-step',
      `The agent runs the step "${name}", and the log has the step "${standsFor}" in its place`,
      index,
    );
}

/** What a step is called in a report. */
export const stepName = (name: string): string =>
  name === secretStep ? 'idempotency keys' : `the step "${name}"`;

const never = (): Promise<never> => new Promise(() => {});
