import type { AgentExecutionEvent, AgentExecutor } from '@a2a-js/sdk/server';
import type { Agent, TaskUpdate, Turn } from '@batonjs/server';
import { toMessage } from './convert.ts';
import { EventBus } from './event-bus.ts';
import { requestContextOf } from './request-context.ts';
import { updatesFrom } from './updates.ts';

/**
 * An agent that is an `AgentExecutor` of the official SDK. Each event is in the store before the next is looked at, and
 * survives the process.
 *
 * One message is one `execute`: a message that arrives meanwhile starts the next one. `cancelTask` is called when a running
 * `execute` is to stop, be it that the task was canceled, its time is over or the server closes; a task that waits is
 * canceled without it. An executor that ends without a terminal or interrupted state has failed.
 */
export function fromExecutor(executor: AgentExecutor): Agent {
  return async (turn) => {
    const bus = new EventBus();
    const run = execute(executor, turn, bus);
    const first = await bus.next();
    if (first?.kind === 'message' && !turn.task) {
      await run.settled;
      return toMessage(first.data);
    }
    return updates(first, turn, bus, run);
  };
}

interface Run {
  /** Rejects with what the executor threw. */
  readonly settled: Promise<void>;
  stop(): void;
}

function execute(executor: AgentExecutor, turn: Turn, bus: EventBus): Run {
  let isOver = false;
  const onAbort = () => {
    if (isOver) return;
    // `execute` says how it ended, if it does so in time. What `cancelTask` throws changes nothing.
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
  run: Run,
): AsyncGenerator<TaskUpdate> {
  const read = updatesFrom(turn);
  try {
    for (let event = first; event; event = await bus.next()) yield* read(event);
    await run.settled;
  } finally {
    run.stop();
  }
}
