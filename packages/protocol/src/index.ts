export * from './model/agent-card.ts';
export type { Json, Struct } from './model/json.ts';
export * from './model/messages.ts';
export type { Oneof } from './model/proto-json.ts';
export * from './model/tasks.ts';
export { Empty, ListTaskPushNotificationConfigsResponse, ListTasksResponse } from './model/tasks.ts';
export { schemas } from './schemas.ts';
