import type { StreamResponse, Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import type { OperationName } from '@batonjs/protocol/operations';

type Loose = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null;

/** Whether a value is enough of a task to work with. */
export const isTask = (value: unknown): value is Task =>
  isObject(value) && typeof value.id === 'string' && isStatus(value.status);

const isStatus = (value: unknown) => isObject(value) && typeof value.state === 'string';

/** An artifact is alike in this. */
const isMessage = (value: unknown): boolean => isObject(value) && Array.isArray(value.parts);

/**
 * The result of an operation, if it is what one builds on: a task where a task is due. The rest is read as it comes.
 * Throws `INVALID_AGENT_RESPONSE`.
 */
export function checkResult(operation: OperationName, result: unknown): unknown {
  if (isObject(result)) {
    if (operation === 'SendMessage') {
      // Some servers leave out the wrapper.
      if (isTask(result.task) || isMessage(result.message)) return result;
      if (isTask(result)) return { task: result };
      if (isMessage(result)) return { message: result };
    } else if (operation === 'GetTask' || operation === 'CancelTask') {
      if (isTask(result)) return result;
    } else if (operation === 'ListTasks') {
      const { tasks = [], nextPageToken = '', ...rest } = result;
      if (Array.isArray(tasks)) return { ...rest, tasks, nextPageToken };
    } else if (operation === 'ListTaskPushNotificationConfigs') {
      const { configs = [], ...rest } = result;
      if (Array.isArray(configs)) return { ...rest, configs };
    } else return result;
  }
  throw new A2AError('INVALID_AGENT_RESPONSE');
}

/** An event of a stream, known or not. Throws `INVALID_AGENT_RESPONSE` for a known one that cannot be folded. */
export function asEvent(value: unknown): StreamResponse {
  const { task, message, statusUpdate, artifactUpdate } = isObject(value) ? value : ({ task: null } as Loose);
  if (
    (task === undefined || isTask(task)) &&
    (message === undefined || isMessage(message)) &&
    (statusUpdate === undefined || (isObject(statusUpdate) && isStatus(statusUpdate.status))) &&
    (artifactUpdate === undefined || (isObject(artifactUpdate) && isMessage(artifactUpdate.artifact)))
  ) {
    return value as StreamResponse;
  }
  throw new A2AError('INVALID_AGENT_RESPONSE');
}
