import type {
  AgentCard,
  SendMessageRequest,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
} from '@batonjs/protocol';
import { A2AError, invalidParams } from '@batonjs/protocol/errors';
import type { OperationName } from '@batonjs/protocol/operations';
import { downCard, upCard } from '../translation/agent-card.ts';
import type { Say } from '../translation/loss.ts';
import { downTaskPushConfig, upTaskPushConfig } from '../translation/push-config.ts';
import { downSendParams, upSendParams } from '../translation/request.ts';
import { compact, isObject } from '../translation/shape.ts';
import { downEvent, downTask, upEvent, upTask } from '../translation/task.ts';
import type {
  V03AgentCard,
  V03Event,
  V03SendParams,
  V03Task,
  V03TaskParams,
  V03TaskPushConfig,
} from '../wire/objects.ts';
import { spellEvent, spellTask, spellTaskPushConfig } from '../wire/spelling.ts';

type Loose = Readonly<Record<string, unknown>>;

/** Webhooks that one answer of 1.0 holds at most. 0.3 has no pages. */
const PAGE = 100;

/** The parameters of an operation, from 0.3. */
export function upParams(operation: OperationName, params: Loose, say: Say): Record<string, unknown> {
  if (operation === 'SendMessage' || operation === 'SendStreamingMessage')
    return { ...upSendParams(params as unknown as V03SendParams, say, '') };
  if (operation === 'CreateTaskPushNotificationConfig')
    return { ...upTaskPushConfig(params as unknown as V03TaskPushConfig, say, '') };
  const { id, historyLength, pushNotificationConfigId, metadata } = params as unknown as V03TaskParams;
  if (operation === 'CancelTask') return compact({ id, metadata });
  if (metadata && Object.keys(metadata).length > 0) say('request-metadata', 'metadata');
  switch (operation) {
    case 'GetTask':
      return compact({ id, historyLength });
    case 'SubscribeToTask':
      return compact({ id });
    case 'ListTaskPushNotificationConfigs':
      return { taskId: id, pageSize: PAGE };
    case 'GetTaskPushNotificationConfig':
    case 'DeleteTaskPushNotificationConfig':
      return compact({ taskId: id, id: pushNotificationConfigId });
    default:
      return {};
  }
}

/** The parameters of an operation, to 0.3. Throws `INVALID_PARAMS` for a `tenant`, `UNSUPPORTED_OPERATION` for ListTasks. */
export function downParams(operation: OperationName, params: Loose, say: Say): object | undefined {
  if (params.tenant) throw invalidParams([{ field: 'tenant', description: 'cannot be said in A2A 0.3' }]);
  const { id, taskId, historyLength, metadata } = params;
  switch (operation) {
    case 'SendMessage':
    case 'SendStreamingMessage':
      return downSendParams(params as unknown as SendMessageRequest, say, '');
    case 'CreateTaskPushNotificationConfig':
      return downTaskPushConfig(params as unknown as TaskPushNotificationConfig, say, '');
    case 'GetTask':
      return compact({ id, historyLength });
    case 'CancelTask':
      return compact({ id, metadata });
    case 'SubscribeToTask':
      return { id };
    case 'ListTaskPushNotificationConfigs':
      return { id: taskId };
    case 'GetTaskPushNotificationConfig':
    case 'DeleteTaskPushNotificationConfig':
      return { id: taskId, pushNotificationConfigId: id };
    case 'ListTasks':
      throw new A2AError('UNSUPPORTED_OPERATION', 'A2A 0.3 has no ListTasks');
    default:
      return undefined;
  }
}

/** The result of an operation, or one event of a stream, however a peer of 0.3 spelt it. Throws `INVALID_AGENT_RESPONSE`. */
export function upResult(operation: OperationName, result: unknown, say: Say): unknown {
  try {
    switch (operation) {
      case 'SendMessage':
      case 'SendStreamingMessage':
      case 'SubscribeToTask':
        return upEvent(spellEvent(result) as V03Event, say, '');
      case 'GetTask':
      case 'CancelTask':
        return upTask(spellTask(result) as V03Task, say, '');
      case 'CreateTaskPushNotificationConfig':
      case 'GetTaskPushNotificationConfig':
        return upTaskPushConfig(spellTaskPushConfig(result) as V03TaskPushConfig, say, '');
      case 'ListTaskPushNotificationConfigs': {
        const list = isObject(result) ? (result.configs ?? []) : result;
        const configs = (list as unknown[]).map(spellTaskPushConfig) as V03TaskPushConfig[];
        return { configs: configs.map((config, n) => upTaskPushConfig(config, say, `[${n}]`)) };
      }
      case 'GetExtendedAgentCard':
        return upCard(result as V03AgentCard, say, '');
      default:
        return {};
    }
  } catch (cause) {
    throw new A2AError('INVALID_AGENT_RESPONSE', undefined, { cause });
  }
}

/** The result of an operation, or one event of a stream, to 0.3. */
export function downResult(operation: OperationName, result: unknown, say: Say, isLast?: boolean): unknown {
  switch (operation) {
    case 'SendMessage':
    case 'SendStreamingMessage':
    case 'SubscribeToTask':
      return downEvent(result as StreamResponse, say, '', isLast);
    case 'GetTask':
    case 'CancelTask':
      return downTask(result as Task, say, '');
    case 'ListTasks':
      return pageOf<Task>(result, 'tasks', say).map((task, n) => downTask(task, say, `[${n}]`));
    case 'CreateTaskPushNotificationConfig':
    case 'GetTaskPushNotificationConfig':
      return downTaskPushConfig(result as TaskPushNotificationConfig, say, '');
    case 'ListTaskPushNotificationConfigs':
      return pageOf<TaskPushNotificationConfig>(result, 'configs', say).map((config, n) =>
        downTaskPushConfig(config, say, `[${n}]`),
      );
    case 'GetExtendedAgentCard':
      return downCard(result as AgentCard, say, '');
    default:
      return null;
  }
}

function pageOf<Element>(result: unknown, member: 'tasks' | 'configs', say: Say): readonly Element[] {
  const page = result as { nextPageToken?: string } & Partial<Record<string, Element[]>>;
  if (page.nextPageToken) say('paging', '');
  return page[member] ?? [];
}
