import type { Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { startDeadline } from '../connection/call-deadline.ts';
import type { Session } from '../connection/session.ts';
import type { CallOptions } from '../options/connect-options.ts';
import { isInterrupted, isTerminal } from '../replies/agent-reply.ts';
import { TaskStream } from './task-stream.ts';

/** Polls a task until it is beyond a generation or has ended. An agent may answer each poll earlier. */
export async function nextGeneration(
  session: Session,
  id: string,
  // Every task is beyond 0.
  after = '0',
  options?: CallOptions,
): Promise<Task> {
  for (;;) {
    const task = (await session.call('GetTask', { id, currentGeneration: after }, options)) as Task;
    const generation = Number(task.generation);
    // An agent that offers generations and sends none has ignored the parameter.
    if (!generation) throw new A2AError('INVALID_AGENT_RESPONSE');
    if (generation > +after || isTerminal(task)) return task;
  }
}

/**
 * Waits until a task has ended or asks, for `timeoutMs`, and resolves to it as it is then. An agent that can be neither
 * followed nor polled has said all that it will.
 */
export async function settled(session: Session, task: Task, options: CallOptions): Promise<Task> {
  if (isTerminal(task) || isInterrupted(task)) return task;
  const deadline = startDeadline(options, session.settings, session.address);
  const stream = new TaskStream(session, { taskId: task.id }, { ...options, signal: deadline.signal });
  try {
    for await (const _ of stream) if (stream.task && isInterrupted(stream.task)) break;
  } catch (error) {
    if (options.signal?.aborted) throw error;
  } finally {
    deadline.close();
  }
  return stream.task ?? task;
}
