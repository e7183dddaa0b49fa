import { type Child, historyOf, stepOf, viewTask } from '@batonjs/lifecycle';
import type { Message } from '@batonjs/protocol';
import {
  contextOf,
  createIdempotencyKeys,
  createMemory,
  defaultLimits,
  type Inbox,
  isWithoutMessage,
  linesOf,
  memoryErrorOf,
  momentOf,
  ofSender,
  openCallback,
  receivedIn,
  referencesOf,
  startedWith,
  type Turn,
  type TurnLog,
  takenLater,
  unsigned,
  valuesOf,
  wakeCommand,
} from '@batonjs/server/turns';
import { type AttemptReplay, ReplayOver } from './attempt-replay.ts';
import { storeAt, type TaskRecording } from './recording.ts';
import { replaySteps } from './replay-steps.ts';

/** The turn of a recorded attempt: it reads the log, and writes nothing. */
export function replayTurn(replay: AttemptReplay, recording: TaskRecording, signal: AbortSignal): Turn {
  const { before } = replay.recorded;
  const { taskId } = recording;
  const { contextId, openTurn } = before;
  const started = startedWith(before);
  const message = () => structuredClone(started.message);
  const messages = () => structuredClone(historyOf(before, { currentStatusInHistory: true }));
  const others = storeAt(recording.related, openTurn?.startedAt ?? before.at);
  const step = replaySteps(replay);
  const { notes, ...outside } = outsideOf(replay, taskId);
  return {
    message: message(),
    messages: messages(),
    text: linesOf(started.message),
    get values() {
      return valuesOf(ofSender(before, started.message, this.messages));
    },
    contextId,
    taskId,
    get task() {
      return replay.state.task && structuredClone(viewTask(replay.state));
    },
    context: contextOf({ store: others, scope: '', contextId, taskId, bytes: defaultLimits.replyBytes }),
    references: () => referencesOf(others, '', started.message, defaultLimits.replyBytes),
    caller: started.caller ?? {},
    metadata: started.metadata ?? {},
    acceptedOutputModes: started.configuration?.acceptedOutputModes ?? [],
    extensions: started.extensions ?? [],
    attempt: openTurn?.attempt ?? 1,
    step,
    transaction: (name) =>
      step(name, async () => {
        throw new ReplayOver();
      }),
    ...outside,
    log: quiet,
    inbox: inboxOf(replay),
    children: childrenOf(replay),
    signal,
    fence: 1,
    get callbacks() {
      return receivedIn(notes().agent);
    },
    wakeKey: 'wake',
    woken: openTurn !== undefined && isWithoutMessage(openTurn),
    replacedWake: openTurn?.replacedWake === undefined ? undefined : new Date(openTurn.replacedWake),
  };
}

/** A replay logs nothing: the turn that it repeats has logged its lines, and none is compared. */
const quiet: TurnLog = { info() {}, warn() {}, error() {} };

/** What a turn records beside its steps and updates. */
function outsideOf(replay: AttemptReplay, taskId: string) {
  const create = { type: 'create', taskId } as const;
  const idempotencyKey = createIdempotencyKeys({
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
  const members: Pick<Turn, 'memory' | 'idempotencyKey' | 'callback' | 'wakeAt'> = {
    idempotencyKey,
    memory: createMemory({
      stored: () => replay.state.agent?.memory,
      async change(memory) {
        try {
          replay.write(() => [{ type: 'change-memory', memory }]);
        } catch (error) {
          throw memoryErrorOf(error);
        }
      },
    }),
    callback: (request) =>
      openCallback(
        {
          scope: '',
          taskId,
          queue: '',
          callbacks: { url: 'https://replay.invalid', keys: unsigned },
          clock: { now: () => replay.now },
          write: (commands) => replay.write(commands),
        },
        request,
      ),
    async wakeAt(time) {
      const moment = time === undefined ? undefined : momentOf(time);
      replay.write((state) => [create, wakeCommand(state, moment, replay.now)]);
    },
  };
  return { ...members, notes: () => replay.state };
}

/** The messages that the attempt took, when it took them. */
function inboxOf(replay: AttemptReplay): Inbox {
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
