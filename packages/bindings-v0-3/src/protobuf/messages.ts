// biome-ignore-all format: a table reads best with one row per line
/**
 * The messages of A2A 0.3 in protocol buffers. `metadata` of a part and `name` of a file came with later versions of 0.3;
 * older peers skip them. Spec: 0.3 `a2a.proto`, package `a2a.v1`.
 */
export const v03Messages: Readonly<Record<string, string>> = {
  SendMessageConfiguration: '1 accepted_output_modes string[], 2 push_notification PushNotificationConfig, 3 history_length int32, 4 blocking bool',
  Task: '1 id string*, 2 context_id string*, 3 status TaskStatus*, 4 artifacts Artifact[], 5 history Message[], 6 metadata Struct',
  TaskStatus: '1 state TaskState*, 2 update Message, 3 timestamp Timestamp',
  Part: '1 text string@part, 2 file FilePart@part, 3 data DataPart@part, 4 metadata Struct',
  FilePart: '1 file_with_uri string@file, 2 file_with_bytes bytes@file, 3 mime_type string, 4 name string',
  DataPart: '1 data Struct',
  Message: '1 message_id string*, 2 context_id string, 3 task_id string, 4 role Role*, 5 content Part[]*, 6 metadata Struct, 7 extensions string[]',
  Artifact: '1 artifact_id string*, 3 name string, 4 description string, 5 parts Part[]*, 6 metadata Struct, 7 extensions string[]',
  TaskStatusUpdateEvent: '1 task_id string*, 2 context_id string*, 3 status TaskStatus*, 4 final bool*, 5 metadata Struct',
  TaskArtifactUpdateEvent: '1 task_id string*, 2 context_id string*, 3 artifact Artifact*, 4 append bool, 5 last_chunk bool, 6 metadata Struct',
  PushNotificationConfig: '1 id string, 2 url string*, 3 token string, 4 authentication AuthenticationInfo',
  AuthenticationInfo: '1 schemes string[]*, 2 credentials string',
  AgentInterface: '1 url string*, 2 transport string*',
  AgentCard: '16 protocol_version string*, 1 name string*, 2 description string*, 3 url string*, 14 preferred_transport string, 15 additional_interfaces AgentInterface[], 4 provider AgentProvider, 5 version string*, 6 documentation_url string, 7 capabilities AgentCapabilities*, 8 security_schemes SecurityScheme{}, 9 security Security[], 10 default_input_modes string[]*, 11 default_output_modes string[]*, 12 skills AgentSkill[]*, 13 supports_authenticated_extended_card bool, 17 signatures AgentCardSignature[]',
  AgentProvider: '1 url string*, 2 organization string*',
  AgentCapabilities: '1 streaming bool, 2 push_notifications bool, 3 extensions AgentExtension[]',
  AgentExtension: '1 uri string, 2 description string, 3 required bool, 4 params Struct',
  AgentSkill: '1 id string*, 2 name string*, 3 description string*, 4 tags string[]*, 5 examples string[], 6 input_modes string[], 7 output_modes string[], 8 security Security[]',
  AgentCardSignature: '1 protected string*, 2 signature string*, 3 header Struct',
  TaskPushNotificationConfig: '1 name string*, 2 push_notification_config PushNotificationConfig*',
  StringList: '1 list string[]*',
  Security: '1 schemes StringList{}*',
  SecurityScheme: '1 api_key_security_scheme APIKeySecurityScheme@scheme, 2 http_auth_security_scheme HTTPAuthSecurityScheme@scheme, 3 oauth2_security_scheme OAuth2SecurityScheme@scheme, 4 open_id_connect_security_scheme OpenIdConnectSecurityScheme@scheme, 5 mtls_security_scheme MutualTlsSecurityScheme@scheme',
  APIKeySecurityScheme: '1 description string, 2 location string*, 3 name string*',
  HTTPAuthSecurityScheme: '1 description string, 2 scheme string*, 3 bearer_format string',
  OAuth2SecurityScheme: '1 description string, 2 flows OAuthFlows*, 3 oauth2_metadata_url string',
  OpenIdConnectSecurityScheme: '1 description string, 2 open_id_connect_url string*',
  MutualTlsSecurityScheme: '1 description string',
  OAuthFlows: '1 authorization_code AuthorizationCodeOAuthFlow@flow, 2 client_credentials ClientCredentialsOAuthFlow@flow, 3 implicit ImplicitOAuthFlow@flow, 4 password PasswordOAuthFlow@flow',
  AuthorizationCodeOAuthFlow: '1 authorization_url string*, 2 token_url string*, 3 refresh_url string, 4 scopes string{}*',
  ClientCredentialsOAuthFlow: '1 token_url string*, 2 refresh_url string, 3 scopes string{}*',
  ImplicitOAuthFlow: '1 authorization_url string*, 2 refresh_url string, 3 scopes string{}*',
  PasswordOAuthFlow: '1 token_url string*, 2 refresh_url string, 3 scopes string{}*',
  SendMessageRequest: '1 request Message, 2 configuration SendMessageConfiguration, 3 metadata Struct',
  GetTaskRequest: '1 name string*, 2 history_length int32',
  CancelTaskRequest: '1 name string*',
  GetTaskPushNotificationConfigRequest: '1 name string*',
  DeleteTaskPushNotificationConfigRequest: '1 name string*',
  CreateTaskPushNotificationConfigRequest: '1 parent string*, 2 config_id string, 3 config TaskPushNotificationConfig',
  TaskSubscriptionRequest: '1 name string*',
  ListTaskPushNotificationConfigRequest: '1 parent string*, 2 page_size int32, 3 page_token string',
  GetAgentCardRequest: '',
  SendMessageResponse: '1 task Task@payload, 2 msg Message@payload',
  StreamResponse: '1 task Task@payload, 2 msg Message@payload, 3 status_update TaskStatusUpdateEvent@payload, 4 artifact_update TaskArtifactUpdateEvent@payload',
  ListTaskPushNotificationConfigResponse: '1 configs TaskPushNotificationConfig[]*, 2 next_page_token string',
};

/** Its enums. */
export const v03Enums: Readonly<Record<string, readonly string[]>> = {
  TaskState: ['TASK_STATE_UNSPECIFIED', 'TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELLED', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_REJECTED', 'TASK_STATE_AUTH_REQUIRED'],
  Role: ['ROLE_UNSPECIFIED', 'ROLE_USER', 'ROLE_AGENT'],
};
