import type { OperationName, Operations, Params, Result } from '@batonjs/protocol/operations';
import type { EventStream } from '../log/event-stream.ts';
import type { CallContext } from './call/call-context.ts';
import type { Dependencies } from './call/dependencies.ts';
import { cancelTask } from './cancel-task.ts';
import { createTaskPushNotificationConfig } from './create-task-push-notification-config.ts';
import { deleteTaskPushNotificationConfig } from './delete-task-push-notification-config.ts';
import { getExtendedAgentCard } from './get-extended-agent-card.ts';
import { getTask } from './get-task.ts';
import { getTaskPushNotificationConfig } from './get-task-push-notification-config.ts';
import { listTaskPushNotificationConfigs } from './list-task-push-notification-configs.ts';
import { listTasks } from './list-tasks.ts';
import { sendMessage } from './send-message.ts';
import { sendStreamingMessage } from './send-streaming-message.ts';
import { subscribeToTask } from './subscribe-to-task.ts';

/** The function of one operation: a stream returns its events, the others a promise of their result. */
type OperationFunction<Name extends OperationName> = (
  params: Params<Name>,
  context: CallContext,
  dependencies: Dependencies,
) => Operations[Name]['kind'] extends 'stream' ? EventStream : Promise<Result<Name>>;

/**
 * The function of any operation, for the handler, which calls them all alike. `params` passed the operation's schema.
 */
export type AnyOperation = (
  params: unknown,
  context: CallContext,
  dependencies: Dependencies,
) => Promise<unknown> | EventStream;

/** One function for each row of the operation table: a row without one does not compile. */
export const service: { readonly [Name in OperationName]: OperationFunction<Name> } = {
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
  GetExtendedAgentCard: getExtendedAgentCard,
};
