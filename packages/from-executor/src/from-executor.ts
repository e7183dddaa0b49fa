import { EventEmitter } from 'node:events';
import type { Artifact as TheirArtifact, TaskStatus as TheirStatus, Task as TheirTask } from '@a2a-js/sdk';
import type { AgentExecutionEvent, AgentExecutor, ExecutionEventBus } from '@a2a-js/sdk/server';
import type { Agent, Task, TaskUpdate, Turn } from '@batonjs/server';
import { requestContextOf, toArtifact, toMessage, toState } from './convert.ts';

/**
 * Runs an `AgentExecutor` of the official SDK as an agent. Each event is committed to the store before the next one is
 * read, and survives the process.
 *
 * Each message is one `execute`: a message that arrives meanwhile starts the next one. `cancelTask` is called to stop
 * a running `execute`, because the task was canceled, its time is over or the server closes. A task that waits for
 * input is canceled without it. The task fails if the executor ends without a terminal or interrupted state.
 */
export function fromExecutor(executor: AgentExecutor): Agent {
  return async (turn) => {
    const bus = new EventBus();
    const execution = execute(executor, turn, bus);
    const first = await bus.next();
    if (first?.kind === 'message' && !turn.task) {
      await execution.settled;
      return toMessage(first.data);
    }
    return updates(first, turn, bus, execution);
  };
}

/** A running `execute`. */
interface Execution {
  /** Resolves when `execute` has ended. Rejects with the executor's error. */
  readonly settled: Promise<void>;
  /** Closes the bus. Later events are ignored. */
  stop(): void;
}

function execute(executor: AgentExecutor, turn: Turn, bus: EventBus): Execution {
  let isOver = false;
  const onAbort = () => {
    if (isOver) return;
    // `execute` still reports the final state, if it ends in time. Errors of `cancelTask` are ignored.
    Promise.resolve(turn.taskId)
      .then((taskId) => executor.cancelTask(taskId, bus))
      .catch(() => {});
  };
  const settled = (async () => {
    try {
      const context = await requestContextOf(turn);
      turn.signal.throwIfAborted();
      turn.signal.addEventListener('abort', onAbort);
      await executor.execute(context, bus);
    } finally {
      stop();
    }
  })();
  settled.catch(() => {});
  return { settled, stop };

  function stop(): void {
    isOver = true;
    turn.signal.removeEventListener('abort', onAbort);
    bus.finished();
  }
}

async function* updates(
  first: AgentExecutionEvent | undefined,
  turn: Turn,
  bus: EventBus,
  execution: Execution,
): AsyncGenerator<TaskUpdate> {
  const read = updatesFrom(turn);
  try {
    for (let event = first; event; event = await bus.next()) yield* read(event);
    await execution.settled;
  } finally {
    execution.stop();
  }
}

/** The bus of one execution. It queues the published events until `next` reads them. */
class EventBus extends EventEmitter implements ExecutionEventBus {
  readonly #queue: AgentExecutionEvent[] = [];
  #changed = Promise.withResolvers<void>();
  #finished = false;

  publish(event: AgentExecutionEvent): void {
    if (this.#finished) return;
    this.#queue.push(event);
    this.emit('event', event);
    this.#changed.resolve();
  }

  finished(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.emit('finished');
    this.#changed.resolve();
  }

  /** The next event; undefined after the executor has finished. */
  async next(): Promise<AgentExecutionEvent | undefined> {
    while (this.#queue.length === 0 && !this.#finished) {
      this.#changed = Promise.withResolvers();
      await this.#changed.promise;
    }
    return this.#queue.shift();
  }
}

type Status = Task['status'];

/** Converts the events of one execution to updates. Throws `TypeError` for an event of another task. */
function updatesFrom({ taskId, task }: Turn): (event: AgentExecutionEvent) => TaskUpdate[] {
  let status: Pick<Status, 'state' | 'message'> | undefined = task?.status;
  const artifacts = new Map(
    (task?.artifacts ?? []).map((known) => [known.artifactId, JSON.stringify(known)]),
  );

  return (event) => {
    const id = event.kind === 'task' ? event.data.id : event.data.taskId;
    if (id && id !== taskId) throw new TypeError(`The executor published an event of the task ${id}`);
    switch (event.kind) {
      case 'task':
        return ofTask(event.data);
      case 'statusUpdate':
        return ofStatus(event.data.status, event.data.metadata);
      case 'artifactUpdate': {
        const { artifact, append, lastChunk, metadata } = event.data;
        return ofArtifact(artifact, { append, lastChunk, metadata });
      }
      default: {
        // Once there is a task, a message becomes the message of its status.
        const next = { state: status?.state ?? 'TASK_STATE_WORKING', message: toMessage(event.data) };
        return moveTo(next);
      }
    }
  };

  /** The updates for what changed in a whole task. Ignores its history, which the server keeps itself. */
  function ofTask({ status: theirs, artifacts: all }: TheirTask): TaskUpdate[] {
    const changed = all.filter((artifact) => {
      const newer = JSON.stringify(toArtifact(artifact));
      return artifacts.get(artifact.artifactId) !== newer;
    });
    return [
      ...(status ? [] : moveTo({ state: 'TASK_STATE_SUBMITTED' })),
      ...changed.flatMap((artifact) => ofArtifact(artifact, {})),
      ...ofStatus(theirs),
    ];
  }

  function ofStatus(theirs: TheirStatus | undefined, metadata?: Record<string, unknown>): TaskUpdate[] {
    if (!theirs) return [];
    const state = toState(theirs.state);
    const message = theirs.message?.parts.length ? toMessage(theirs.message) : undefined;
    const isKnown = state === status?.state && message?.messageId === status.message?.messageId;
    // A task cannot return to SUBMITTED, and a repeated status is not an update.
    const isIgnored = state === 'TASK_STATE_UNSPECIFIED' || (state === 'TASK_STATE_SUBMITTED' && status);
    if (isIgnored || (isKnown && !metadata)) return [];
    return moveTo({ state, ...(message && { message }) }, metadata);
  }

  function moveTo(next: Pick<Status, 'state' | 'message'>, metadata?: Record<string, unknown>): TaskUpdate[] {
    status = next;
    return [{ status: next, ...(metadata && { metadata }) }];
  }

  function ofArtifact(
    theirs: TheirArtifact | undefined,
    {
      append = false,
      lastChunk = false,
      metadata,
    }: { append?: boolean; lastChunk?: boolean; metadata?: Record<string, unknown> | undefined },
  ): TaskUpdate[] {
    if (!theirs) return [];
    const artifact = toArtifact(theirs);
    if (artifact.parts.length === 0) {
      if (!lastChunk) return [];
      artifact.parts.push({ text: '' });
    }
    const isKnown = artifacts.has(artifact.artifactId);
    artifacts.set(artifact.artifactId, append ? '' : JSON.stringify(artifact));
    return [
      {
        artifact,
        // Executors may append to an artifact that does not exist yet. Such a chunk creates it.
        ...(append && isKnown && { append }),
        ...(lastChunk && { lastChunk }),
        ...(metadata && { metadata }),
      },
    ];
  }
}
