import type { OperationName, Operations, Params, Result } from '@batonjs/protocol/operations';
import type { EventStream } from '../log/event-stream.ts';
import type { CallContext } from './call/call-context.ts';
import type { ServiceSettings } from './call/dependencies.ts';
import { cancelTask } from './cancel-task.ts';
import { getTask } from './get-task.ts';
import { listTasks } from './list-tasks.ts';
import {
  createTaskPushNotificationConfig,
  deleteTaskPushNotificationConfig,
  getTaskPushNotificationConfig,
  listTaskPushNotificationConfigs,
} from './push-notification-configs.ts';
import { sendMessage, sendStreamingMessage } from './send-message.ts';
import { subscribeToTask } from './subscribe-to-task.ts';

type Method<Name extends OperationName> = (
  params: Params<Name>,
  context: CallContext,
  settings: ServiceSettings,
) => Operations[Name]['kind'] extends 'stream' ? EventStream : Promise<Result<Name>>;

/** A method for each row of the operation table. */
export type Service = { readonly [Name in OperationName]: Method<Name> };

export const service: Service = {
  SendMessage: sendMessage,
  SendStreamingMessage: sendStreamingMessage,
  GetTask: getTask,
  ListTasks: listTasks,
  CancelTask: cancelTask,
  SubscribeToTask: subscribeToTask,
  CreateTaskPushNotificationConfig: createTaskPushNotificationConfig,
  GetTaskPushNotificationConfig: getTaskPushNotificationConfig,
  ListTaskPushNotificationConfigs: listTaskPushNotificationConfigs,
  DeleteTaskPushNotificationConfig: deleteTaskPushNotificationConfig,
  GetExtendedAgentCard: ({ tenant }, { baseUrl, caller }, { cards }) =>
    cards.extended({ baseUrl, tenant }, caller),
};
