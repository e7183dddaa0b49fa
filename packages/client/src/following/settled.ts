import type { Task } from '@batonjs/protocol';
import { startDeadline } from '../connection/call-deadline.ts';
import type { Session } from '../connection/session.ts';
import type { CallOptions } from '../options/connect-options.ts';
import { isInterrupted, isTerminal } from '../replies/task-states.ts';
import { TaskStream } from './task-stream.ts';

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
