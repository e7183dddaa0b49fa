export {
  A2A_DOMAIN,
  A2AError,
  type A2AErrorOptions,
  BATON_DOMAIN,
  type ErrorDetail,
  type ErrorReason,
  type ErrorRow,
  errorTable,
  type FieldViolation,
  invalidParams,
  invalidRequest,
  type StatusName,
} from './errors.ts';
export {
  A2A_EXTENSIONS,
  A2A_JSON,
  A2A_VERSION,
  AGENT_CARD_PATH,
  BARE_NOTIFICATION_TOKEN,
  challenge,
  DELIVERY_ID,
  EVENT_STREAM,
  IDEMPOTENCY,
  IMPLIED_VERSION,
  JSON_TYPE,
  LEGACY_EXTENSIONS,
  NOTIFICATION_TOKEN,
  PROTOCOL_VERSION,
  parseExtensions,
  parseVersion,
} from './headers.ts';
export {
  AgentCapabilities,
  AgentCard,
  AgentCardSignature,
  AgentExtension,
  AgentInterface,
  AgentProvider,
  AgentSkill,
  APIKeySecurityScheme,
  AuthorizationCodeOAuthFlow,
  ClientCredentialsOAuthFlow,
  DeviceCodeOAuthFlow,
  HTTPAuthSecurityScheme,
  ImplicitOAuthFlow,
  MutualTlsSecurityScheme,
  OAuth2SecurityScheme,
  type OAuthFlow,
  OAuthFlows,
  OpenIdConnectSecurityScheme,
  PasswordOAuthFlow,
  SecurityRequirement,
  SecurityScheme,
  type SecuritySchemeKind,
} from './model/agent-card.ts';
export type { Json, Struct } from './model/json.ts';
export { Artifact, Message, Part, type PartAttributes, type PartContent, Role } from './model/messages.ts';
export type { Oneof } from './model/proto-json.ts';
export {
  AuthenticationInfo,
  CancelTaskRequest,
  CreateTaskPushNotificationConfigRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetExtendedAgentCardRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTasksRequest,
  SendMessageConfiguration,
  SendMessageRequest,
  SubscribeToTaskRequest,
  TaskPushNotificationConfig,
} from './model/requests.ts';
export { Empty, ListTaskPushNotificationConfigsResponse, ListTasksResponse } from './model/responses.ts';
export { TaskState } from './model/task-state.ts';
export {
  SendMessageResponse,
  type SendMessageResult,
  type StreamEvent,
  StreamResponse,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatus,
  TaskStatusUpdateEvent,
} from './model/tasks.ts';
export {
  type A2AService,
  type HttpRule,
  isOperationName,
  methodName,
  type Operation,
  type OperationName,
  type Operations,
  operationNames,
  operations,
  type Params,
  type QueryType,
  type Reply,
  type Result,
} from './operations.ts';
export { fieldViolations, parseParams } from './parse-params.ts';
export { dataOf, textOf } from './parts.ts';
export { schemas } from './schemas.ts';
