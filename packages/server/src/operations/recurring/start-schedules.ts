import { submitMessage } from '../accept/accept-message.ts';
import type { Dependencies } from '../call/call-context.ts';
import type { RunningSchedules, Schedules } from './recurring-task.ts';

/** Starts the recurring tasks of a server. Throws `TypeError` for other schedules than those of `recurring`. */
export function startSchedules(
  schedules: Schedules | undefined,
  dependencies: Dependencies,
): RunningSchedules | undefined {
  if (schedules === undefined) return undefined;
  if (typeof schedules.start !== 'function')
    throw new TypeError('`schedules` must be what `recurring` of `@batonjs/server/schedules` returns');
  const { store, clock, logger, report, options } = dependencies;
  return schedules.start({
    queue: options.queue,
    isAsked: options.run === 'due',
    store,
    clock,
    logger,
    report,
    submit({ messageId, parts, metadata, label, caller, tenant }) {
      const message = { messageId, role: 'ROLE_USER' as const, parts: [...parts] };
      const request = { message, metadata, ...(tenant !== undefined && { tenant }) };
      return submitMessage(request, caller, dependencies, [label]);
    },
  });
}
