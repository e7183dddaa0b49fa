import type { AgentCard, GetExtendedAgentCardRequest } from '@batonjs/protocol';
import type { OperationName, Operations, Params, Result } from '@batonjs/protocol/operations';
import type { EventStream } from '../log/event-stream.ts';
import type { CallContext, Dependencies } from './call/call-context.ts';
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

/** GetExtendedAgentCard. Spec: §3.1.11. */
export const getExtendedAgentCard = (
  { tenant }: GetExtendedAgentCardRequest,
  { baseUrl, caller }: CallContext,
  { cards }: Dependencies,
): Promise<AgentCard> => cards.extended({ baseUrl, tenant }, caller);

/** The function of one operation: a stream returns its events, the others a promise of their result. */
type OperationFunction<Name extends OperationName> = (
  params: Params<Name>,
  context: CallContext,
  dependencies: Dependencies,
) => Operations[Name]['kind'] extends 'stream' ? EventStream : Promise<Result<Name>>;

/** The function of any operation, for the handler, which calls them all alike. `params` passed the operation's schema. */
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
