import { type Child, stepOf } from '@batonjs/lifecycle';
import type { Message } from '@batonjs/protocol';
import {
  completeRetry,
  createIdempotencyKeys,
  systemClock,
  type Turn,
  takenLater,
} from '@batonjs/server/turns';
import { type TurnGround, turnOn } from '../run-turn.ts';
import { type AttemptReplay, ReplayOver } from './attempt-replay.ts';
import { storeAt, type TaskRecording } from './recording.ts';
import { replaySteps } from './replay-steps.ts';

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
