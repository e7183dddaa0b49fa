import type { Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import type { Session } from '../connection/session.ts';
import type { CallOptions } from '../options/connect-options.ts';
import { isTerminal } from '../replies/task-states.ts';

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
