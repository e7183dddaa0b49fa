import { A2AError } from '@batonjs/client';
import { USAGE, usageOf } from '@batonjs/extensions/client';
import type { Child, ChildUpdate } from '@batonjs/lifecycle';
import { offers } from '../agents/agents.ts';
import type { CallSettings } from '../call.ts';
import { aborted } from './aborted.ts';
import { hasEnded, type RecordedChild } from './child-record.ts';
import { findTask } from './start-child.ts';

/** The means to cancel children. The agents may take `cancelMs` milliseconds together. */
type CancelSettings = Pick<CallSettings, 'agents' | 'logger' | 'cancelMs'>;

/**
 * Cancels the children that have not ended. Resolves to them as they are then: one that cannot be reached in time is
 * logged and left out. Never rejects.
 */
export async function cancelChildren(
  children: Readonly<Record<string, Child>>,
  settings: CancelSettings,
): Promise<ChildUpdate[]> {
  const running = Object.entries(children).filter(([, child]) => !hasEnded(child));
  const signal = AbortSignal.timeout(settings.cancelMs);
  const canceled = running.map(([name, child]) => cancel(name, child as RecordedChild, settings, signal));
  return (await Promise.all(canceled)).flatMap((update) => update ?? []);
}

async function cancel(
  name: string,
  child: RecordedChild,
  { agents, logger }: CancelSettings,
  signal: AbortSignal,
): Promise<ChildUpdate | undefined> {
  try {
    // The agent may take long to give its card.
    const { client } = await Promise.race([agents.openAt(child.record.at), aborted(signal)]);
    const { message } = child.record;
    const id = child.taskId ?? (message && (await findTask(client, message, signal)));
    if (id === undefined) return undefined;
    const options = { signal, extensions: [USAGE].filter((uri) => offers(client, uri)) };
    const task = await client.cancelTask({ id }, options).catch((error: unknown) => {
      // It ended before.
      if (A2AError.is(error, 'TASK_NOT_CANCELABLE')) return client.getTask({ id }, options);
      throw error;
    });
    return { ...child, name, taskId: id, state: task.status.state, usage: usageOf(task) };
  } catch (err) {
    logger('warn', 'The child of a task could not be canceled', { call: name, taskId: child.taskId, err });
    return undefined;
  }
}
