import type { TaskUpdate } from '@batonjs/lifecycle';
import type { Message } from '@batonjs/protocol';
import {
  type Agent,
  checkAnswer,
  commandsFor,
  describeThrown,
  isUpdates,
  nextRound,
  questionCommands,
  turnOver,
  unlessCanceled,
} from '@batonjs/server/turns';
import { runUpdates } from '../run-updates.ts';
import { AttemptReplay, type ReplayDifference, ReplayOver } from './attempt-replay.ts';
import { type Comparison, describeFact } from './compare-facts.ts';
import { attemptsIn, type TaskRecording } from './recording.ts';
import { explainUnknown, replayTurn, stepName } from './replay-turn.ts';

/** How a task is replayed. */
export interface ReplayOptions {
  /**
   * How updates are compared: `exact`, ids, tokens and times aside, or only by the `shape` of their values. Default
   * `exact`.
   */
  readonly compare?: Comparison | undefined;
  /** For how long an attempt may do nothing, in milliseconds. Default 5,000. */
  readonly idleMs?: number | undefined;
}

/** What became of a recorded task under other code. */
export interface Replayed {
  readonly taskId: string;
  readonly turns: number;
  /** In all turns together. */
  readonly attempts: number;
  /** Empty if the code does the same. Of each attempt the first one. */
  readonly differences: readonly ReplayDifference[];
}

/**
 * Runs an agent on the recorded log of a task, with every effect forbidden: steps, transactions, calls of other agents
 * and callbacks are answered from the log, and `fetch` rejects. `Date` tells the recorded time. Each attempt of each turn
 * starts with the task as it was then. Replays of one process follow each other. Rejects for a recording that cannot be
 * read.
 */
export function replayTask(
  agent: Agent,
  recording: TaskRecording,
  { compare = 'exact', idleMs = 5_000 }: ReplayOptions = {},
): Promise<Replayed> {
  const replayed = latest.then(async () => {
    const differences: ReplayDifference[] = [];
    const attempts = attemptsIn(recording.facts);
    for (const recorded of attempts) {
      const replay = new AttemptReplay(recorded, compare);
      await replayAttempt(agent, replay, recording, idleMs);
      differences.push(...replay.differences);
    }
    const turns = new Set(attempts.map(({ turn }) => turn)).size;
    return { taskId: recording.taskId, turns, attempts: attempts.length, differences };
  });
  latest = replayed.catch(() => {});
  return replayed;
}

/** They share the clock of the process. */
let latest: Promise<unknown> = Promise.resolve();

/** How the agent ended. */
type Outcome = { readonly type: 'done' } | { readonly type: 'threw'; readonly error: unknown };

async function replayAttempt(
  agent: Agent,
  replay: AttemptReplay,
  recording: TaskRecording,
  idleMs: number,
): Promise<void> {
  if (replay.isOver) return;
  const over = new AbortController();
  const turn = replayTurn(replay, recording, over.signal);
  await withoutEffects(replay, async () => {
    const run = runAgent(agent, turn, replay).then(
      (): Outcome => ({ type: 'done' }),
      (error: unknown): Outcome => ({ type: 'threw', error }),
    );
    const ended = new AbortController();
    const outcome = await Promise.race([run, replay.over, untilStuck(replay, idleMs, ended.signal)]);
    ended.abort();
    if (outcome && !replay.isOver) judge(outcome, replay);
    if (replay.unknown) explainUnknown(replay);
    else if (!replay.isOver) judgeRest(replay);
    replay.finish();
    over.abort(turnOver);
    // What the agent does when it hears of it is not heard any more.
    await nextRound();
  });
}

async function runAgent(
  agent: Agent,
  turn: ReturnType<typeof replayTurn>,
  replay: AttemptReplay,
): Promise<void> {
  const { taskId } = turn;
  const answer = await agent(turn);
  if (!isUpdates(answer)) {
    checkAnswer(answer);
    const message: Message = answer;
    replay.write((state) => unlessCanceled(state, taskId, [{ type: 'answer', message }]));
    return;
  }
  const record = (update: TaskUpdate) => replay.write((state) => commandsOf(update, state, taskId));
  await runUpdates(answer, record, () => replay.state);
}

function commandsOf(update: TaskUpdate, state: AttemptReplay['state'], taskId: string) {
  const asks = 'status' in update && update.status.state === 'TASK_STATE_INPUT_REQUIRED';
  return asks ? questionCommands(state, taskId, update) : commandsFor(state, taskId, update);
}

/** Resolves to nothing when the attempt did nothing for so long. */
async function untilStuck(replay: AttemptReplay, idleMs: number, signal: AbortSignal): Promise<undefined> {
  const started = performance.now();
  let since = started;
  for (let progress = -1; !replay.isOver && !signal.aborted; ) {
    if (progress !== replay.progress) since = performance.now();
    progress = replay.progress;
    for (let round = 0; round < roundsOfOne && progress === replay.progress; round++) await nextRound();
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    const isIdle = progress === replay.progress;
    if (isIdle && replay.release()) continue;
    if (isIdle && performance.now() - since > idleMs) {
      if (replay.isWhole)
        replay.differ('stuck', `The agent goes on with nothing for ${idleMs} ms`, replay.first);
      return undefined;
    }
  }
  return undefined;
}

const roundsOfOne = 20;
const pollMs = 5;

/** Compares how the agent ended with what the log says. */
function judge(outcome: Outcome, replay: AttemptReplay): void {
  const { end } = replay.recorded;
  if (outcome.type === 'threw') {
    if (outcome.error instanceof ReplayOver) return;
    const { message } = describeThrown(outcome.error);
    if (end.kind === 'threw' && end.message === message) return;
    if (!replay.isWhole && replay.first === -1) return;
    const then = end.kind === 'threw' ? `threw ${JSON.stringify(end.message)}` : 'did not throw';
    replay.differ('other-end', `The agent throws ${JSON.stringify(message)}, and ${then}`, end.at);
  } else if (end.kind === 'threw')
    replay.differ('other-end', `The agent throws nothing, and threw ${JSON.stringify(end.message)}`, end.at);
}

/** What the log has and the agent did not do. */
function judgeRest(replay: AttemptReplay): void {
  const step = replay.find(({ type }) => type === 'step-completed' || type === 'step-failed');
  const lost = replay.factAt(step);
  const next = replay.factAt(replay.first);
  if (lost?.type === 'step-completed' || lost?.type === 'step-failed')
    replay.differ('lost-step', `The agent does not run ${stepName(lost.name)}, which the log has`, step);
  else if (next)
    replay.differ('lost-update', `The agent does not come to ${describeFact(next)}`, replay.first);
}

/** Runs code whose clock is that of a recorded attempt, and which cannot reach the network with `fetch`. */
async function withoutEffects(replay: AttemptReplay, run: () => Promise<void>): Promise<void> {
  const { Date: realDate, fetch: realFetch } = globalThis;
  const refuse = (request: unknown): Promise<never> => {
    const { url } = Object(request) as { readonly url?: unknown };
    const target = String(url ?? request).split(/[?#]/, 1)[0];
    // How a call of another agent went on is not in the log.
    if (!replay.isStopped)
      replay.differ('effect', `The agent calls ${target} outside of a step`, replay.first);
    return new Promise(() => {});
  };
  globalThis.Date = recordedDate(realDate, () => replay.now);
  globalThis.fetch = refuse;
  try {
    await run();
  } finally {
    globalThis.Date = realDate;
    globalThis.fetch = realFetch;
  }
}

/** `Date`, where now is another time. */
const recordedDate = (real: DateConstructor, now: () => number): DateConstructor =>
  new Proxy(real, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new real(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
