import { A2AError } from '@batonjs/protocol/errors';
import type { CallbackRequest, OpenedCallback } from '../../agent/callback.ts';
import { isoTime, momentOf } from '../../base/timing/clock.ts';
import { decideAll } from '../../log/write/decision.ts';
import { write } from '../../log/write/write.ts';
import { dueAt } from '../../turns/order/deadline-watch.ts';
import { mustWork, openCallback, opened } from '../../turns/outside/open-callback.ts';
import { type Dependencies, scopeOf, taskNotFound } from '../call/call-context.ts';

/** Who answers until when, and whose task it is. */
export interface AnswerLinkOptions extends Required<Pick<CallbackRequest, 'answeredBy' | 'expiresMs'>> {
  /** The `scope` that `authenticate` returned for the caller of the task; without it, callers that are not authenticated. */
  readonly caller?: string | undefined;
  readonly tenant?: string | undefined;
  /** The operator who chose the person, for the log. */
  readonly assignedBy?: string;
}

/** What a link is made with: a server has it, and a worker. */
type LinkMaker = Pick<Dependencies, 'tasks' | 'clock' | 'isOpen'> & {
  readonly options: Pick<Dependencies['options'], 'queue' | 'callbacks' | 'timeouts'>;
};

/** Makes a link to the question of a task. Not an operation of the protocol. Rejects with an `A2AError`, or with `TypeError` for options that cannot work. */
export async function openAnswerLink(
  taskId: string,
  { answeredBy, expiresMs, caller = '', tenant, assignedBy }: AnswerLinkOptions,
  { tasks, clock, isOpen, options: { queue, callbacks, timeouts } }: LinkMaker,
): Promise<OpenedCallback> {
  if (!isOpen()) throw new A2AError('UNAVAILABLE', 'The server is closing', { retryAfter: 1 });
  if (!callbacks) throw new TypeError('`answerLink` needs the option `callbacks`');
  if (answeredBy === undefined) throw new TypeError('A link needs `answeredBy`');
  const scope = scopeOf(queue, tenant, { scope: caller });
  const live = await tasks.open(scope, taskId);
  if (!live) throw taskNotFound(taskId);
  try {
    const task = {
      scope,
      taskId,
      queue,
      callbacks,
      clock,
      write: (commands: Parameters<Parameters<typeof openCallback>[0]['write']>[0]) =>
        write(
          live,
          (state) => {
            if (state?.task?.status.state !== 'TASK_STATE_INPUT_REQUIRED')
              throw new A2AError('UNSUPPORTED_OPERATION', 'The task waits for no answer');
            return decideAll(state, commands(state), isoTime(clock.now()));
          },
          { dueAt: (state) => dueAt(state, timeouts) },
        ),
    };
    return await openCallback(task, { name: 'answer', answeredBy, expiresMs, assignedBy });
  } finally {
    tasks.release(live);
  }
}

/** Makes a link to all questions to which a person has links, of the tasks of one caller. Its token names no task, and has its end. */
export async function openInboxLink(
  { answeredBy = '', expiresMs, caller = '', tenant }: AnswerLinkOptions,
  { clock, options: { queue, callbacks } }: Pick<LinkMaker, 'clock' | 'options'>,
): Promise<OpenedCallback> {
  if (!callbacks) throw new TypeError('`inboxLink` needs the option `callbacks`');
  mustWork({ answeredBy, expiresMs });
  const expiresAt = momentOf(clock.now() + expiresMs);
  const scope = scopeOf(queue, tenant, { scope: caller });
  return opened({ scope, taskId: '', id: answeredBy, secret: expiresAt }, expiresAt, { queue, callbacks });
}
