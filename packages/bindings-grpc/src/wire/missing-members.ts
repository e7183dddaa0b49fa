import type * as protocol from '@batonjs/protocol';
import type { StreamResponse } from '@batonjs/protocol';
import type { a2aMessages, previewFields } from '@batonjs/protocol/proto-messages';

type Table = typeof a2aMessages;
type Preview = typeof previewFields;

/** The messages as the protocol has them. */
interface Messages {
  SendMessageConfiguration: protocol.SendMessageConfiguration;
  Task: protocol.Task;
  TaskStatus: protocol.TaskStatus;
  Part: protocol.Part;
  Message: protocol.Message;
  Artifact: protocol.Artifact;
  TaskStatusUpdateEvent: protocol.TaskStatusUpdateEvent;
  TaskArtifactUpdateEvent: protocol.TaskArtifactUpdateEvent;
  AuthenticationInfo: protocol.AuthenticationInfo;
  AgentInterface: protocol.AgentInterface;
  AgentCard: protocol.AgentCard;
  AgentProvider: protocol.AgentProvider;
  AgentCapabilities: protocol.AgentCapabilities;
  AgentExtension: protocol.AgentExtension;
  AgentSkill: protocol.AgentSkill;
  AgentCardSignature: protocol.AgentCardSignature;
  TaskPushNotificationConfig:
    | protocol.TaskPushNotificationConfig
    | protocol.CreateTaskPushNotificationConfigRequest;
  SecurityRequirement: protocol.SecurityRequirement;
  SecurityScheme: protocol.SecurityScheme;
  APIKeySecurityScheme: protocol.APIKeySecurityScheme;
  HTTPAuthSecurityScheme: protocol.HTTPAuthSecurityScheme;
  OAuth2SecurityScheme: protocol.OAuth2SecurityScheme;
  OpenIdConnectSecurityScheme: protocol.OpenIdConnectSecurityScheme;
  MutualTlsSecurityScheme: protocol.MutualTlsSecurityScheme;
  OAuthFlows: protocol.OAuthFlows;
  AuthorizationCodeOAuthFlow: protocol.AuthorizationCodeOAuthFlow;
  ClientCredentialsOAuthFlow: protocol.ClientCredentialsOAuthFlow;
  ImplicitOAuthFlow: protocol.ImplicitOAuthFlow;
  PasswordOAuthFlow: protocol.PasswordOAuthFlow;
  DeviceCodeOAuthFlow: protocol.DeviceCodeOAuthFlow;
  SendMessageRequest: protocol.SendMessageRequest;
  GetTaskRequest: protocol.GetTaskRequest;
  ListTasksRequest: protocol.ListTasksRequest;
  ListTasksResponse: protocol.ListTasksResponse;
  CancelTaskRequest: protocol.CancelTaskRequest;
  GetTaskPushNotificationConfigRequest: protocol.GetTaskPushNotificationConfigRequest;
  DeleteTaskPushNotificationConfigRequest: protocol.DeleteTaskPushNotificationConfigRequest;
  SubscribeToTaskRequest: protocol.SubscribeToTaskRequest;
  ListTaskPushNotificationConfigsRequest: protocol.ListTaskPushNotificationConfigsRequest;
  GetExtendedAgentCardRequest: protocol.GetExtendedAgentCardRequest;
  SendMessageResponse: protocol.SendMessageResponse;
  StreamResponse: StreamResponse;
  ListTaskPushNotificationConfigsResponse: protocol.ListTaskPushNotificationConfigsResponse;
  StringList: { list: unknown };
}

type Camel<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<Camel<Rest>>}`
  : Name;

type MemberOf<Row extends string> = Row extends `${string} ${infer Name} ${string}` ? Camel<Name> : never;

/** The members of a row of the table. */
type MembersIn<Text extends string> = Text extends `${infer Row}, ${infer Rest}`
  ? MemberOf<Row> | MembersIn<Rest>
  : MemberOf<Text>;

type Added<Name> = Name extends keyof Preview ? MembersIn<Preview[Name]> : never;

type KeysOf<Message> = Message extends unknown ? keyof Message : never;

/** The members that a message of the protocol has and its row of the table has not. */
export type MissingMembers = {
  [Name in keyof Table]: Exclude<KeysOf<Messages[Name]>, MembersIn<Table[Name]> | Added<Name>>;
}[keyof Table];

/** Compiles for nothing only. */
export type Nothing<None extends never> = None;
