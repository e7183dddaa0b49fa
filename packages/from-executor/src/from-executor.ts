import type { AgentExecutionEvent, AgentExecutor } from '@a2a-js/sdk/server';
import type { Agent, TaskUpdate, Turn } from '@batonjs/server';
import { toMessage } from './convert.ts';
import { EventBus } from './event-bus.ts';
import { requestContextOf } from './request-context.ts';
import { updatesFrom } from './updates.ts';

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
