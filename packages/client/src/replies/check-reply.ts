import type { StreamResponse, Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { isObject } from '@batonjs/protocol/json';
import type { OperationName } from '@batonjs/protocol/operations';

type Loose = Readonly<Record<string, unknown>>;

/** Whether a value has the members of a task that the client reads. */
const isTask = (value: unknown): value is Task =>
  isObject(value) && typeof value.id === 'string' && isStatus(value.status);

const isStatus = (value: unknown) => isObject(value) && typeof value.state === 'string';

/** Whether a value has `parts`. Artifacts pass as well. */
const hasParts = (value: unknown): boolean => isObject(value) && Array.isArray(value.parts);

/**
 * The result of an operation, with what agents commonly leave out filled in. Throws `INVALID_AGENT_RESPONSE` unless it
 * has the members that the client reads; other members are not checked.
 */
export function checkResult(operation: OperationName, result: unknown): unknown {
  if (isObject(result)) {
    if (operation === 'SendMessage') {
      // Some servers omit the `task` or `message` wrapper.
      if (isTask(result.task) || hasParts(result.message)) return result;
      if (isTask(result)) return { task: result };
      if (hasParts(result)) return { message: result };
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

/**
 * An event of a stream. Events of an unknown kind pass unchanged. Throws `INVALID_AGENT_RESPONSE` for an event of a
 * known kind that lacks the members needed to fold it.
 */
export function checkEvent(value: unknown): StreamResponse {
  const { task, message, statusUpdate, artifactUpdate } = isObject(value) ? value : ({ task: null } as Loose);
  if (
    (task === undefined || isTask(task)) &&
    (message === undefined || hasParts(message)) &&
    (statusUpdate === undefined || (isObject(statusUpdate) && isStatus(statusUpdate.status))) &&
    (artifactUpdate === undefined || (isObject(artifactUpdate) && hasParts(artifactUpdate.artifact)))
  ) {
    return value as StreamResponse;
  }
  throw new A2AError('INVALID_AGENT_RESPONSE');
}
