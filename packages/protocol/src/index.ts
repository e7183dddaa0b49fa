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
export {
  Artifact,
  Message,
  Part,
  type PartAttributes,
  type PartContent,
  Role,
  TaskState,
} from './model/messages.ts';
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
export {
  SendMessageResponse,
  type SendMessageResponseMembers,
  StreamResponse,
  type StreamResponseMembers,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatus,
  TaskStatusUpdateEvent,
} from './model/tasks.ts';
export { schemas } from './schemas.ts';
