// biome-ignore-all format: a table reads best with one row per line
/**
 * The messages of A2A 1.0 as `number name type`. `*` follows a type that the specification marks REQUIRED, `?` one with
 * explicit presence, `[]` a list, `{}` a map with string keys; `@content` names the oneof that a field belongs to.
 * Spec: `a2a.proto`, package `lf.a2a.v1`.
 */
export const a2aMessages = {
  SendMessageConfiguration: '1 accepted_output_modes string[], 2 task_push_notification_config TaskPushNotificationConfig, 3 history_length int32?, 4 return_immediately bool',
  Task: '1 id string*, 2 context_id string, 3 status TaskStatus*, 4 artifacts Artifact[], 5 history Message[], 6 metadata Struct',
  TaskStatus: '1 state TaskState*, 2 message Message, 3 timestamp Timestamp',
  Part: '1 text string@content, 2 raw bytes@content, 3 url string@content, 4 data Value@content, 5 metadata Struct, 6 filename string, 7 media_type string',
  Message: '1 message_id string*, 2 context_id string, 3 task_id string, 4 role Role*, 5 parts Part[]*, 6 metadata Struct, 7 extensions string[], 8 reference_task_ids string[]',
  Artifact: '1 artifact_id string*, 2 name string, 3 description string, 4 parts Part[]*, 5 metadata Struct, 6 extensions string[]',
  TaskStatusUpdateEvent: '1 task_id string*, 2 context_id string*, 3 status TaskStatus*, 4 metadata Struct',
  TaskArtifactUpdateEvent: '1 task_id string*, 2 context_id string*, 3 artifact Artifact*, 4 append bool, 5 last_chunk bool, 6 metadata Struct',
  AuthenticationInfo: '1 scheme string*, 2 credentials string',
  AgentInterface: '1 url string*, 2 protocol_binding string*, 3 tenant string, 4 protocol_version string*',
  AgentCard: '1 name string*, 2 description string*, 3 supported_interfaces AgentInterface[]*, 4 provider AgentProvider, 5 version string*, 6 documentation_url string?, 7 capabilities AgentCapabilities*, 8 security_schemes SecurityScheme{}, 9 security_requirements SecurityRequirement[], 10 default_input_modes string[]*, 11 default_output_modes string[]*, 12 skills AgentSkill[]*, 13 signatures AgentCardSignature[], 14 icon_url string?',
  AgentProvider: '1 url string*, 2 organization string*',
  AgentCapabilities: '1 streaming bool?, 2 push_notifications bool?, 3 extensions AgentExtension[], 4 extended_agent_card bool?',
  AgentExtension: '1 uri string, 2 description string, 3 required bool, 4 params Struct',
  AgentSkill: '1 id string*, 2 name string*, 3 description string*, 4 tags string[]*, 5 examples string[], 6 input_modes string[], 7 output_modes string[], 8 security_requirements SecurityRequirement[]',
  AgentCardSignature: '1 protected string*, 2 signature string*, 3 header Struct',
  TaskPushNotificationConfig: '1 tenant string, 2 id string, 3 task_id string, 4 url string*, 5 token string, 6 authentication AuthenticationInfo',
  StringList: '1 list string[]',
  SecurityRequirement: '1 schemes StringList{}',
  SecurityScheme: '1 api_key_security_scheme APIKeySecurityScheme@scheme, 2 http_auth_security_scheme HTTPAuthSecurityScheme@scheme, 3 oauth2_security_scheme OAuth2SecurityScheme@scheme, 4 open_id_connect_security_scheme OpenIdConnectSecurityScheme@scheme, 5 mtls_security_scheme MutualTlsSecurityScheme@scheme',
  APIKeySecurityScheme: '1 description string, 2 location string*, 3 name string*',
  HTTPAuthSecurityScheme: '1 description string, 2 scheme string*, 3 bearer_format string',
  OAuth2SecurityScheme: '1 description string, 2 flows OAuthFlows*, 3 oauth2_metadata_url string',
  OpenIdConnectSecurityScheme: '1 description string, 2 open_id_connect_url string*',
  MutualTlsSecurityScheme: '1 description string',
  OAuthFlows: '1 authorization_code AuthorizationCodeOAuthFlow@flow, 2 client_credentials ClientCredentialsOAuthFlow@flow, 3 implicit ImplicitOAuthFlow@flow, 4 password PasswordOAuthFlow@flow, 5 device_code DeviceCodeOAuthFlow@flow',
  AuthorizationCodeOAuthFlow: '1 authorization_url string*, 2 token_url string*, 3 refresh_url string, 4 scopes string{}*, 5 pkce_required bool',
  ClientCredentialsOAuthFlow: '1 token_url string*, 2 refresh_url string, 3 scopes string{}*',
  ImplicitOAuthFlow: '1 authorization_url string, 2 refresh_url string, 3 scopes string{}',
  PasswordOAuthFlow: '1 token_url string, 2 refresh_url string, 3 scopes string{}',
  DeviceCodeOAuthFlow: '1 device_authorization_url string*, 2 token_url string*, 3 refresh_url string, 4 scopes string{}*',
  SendMessageRequest: '1 tenant string, 2 message Message*, 3 configuration SendMessageConfiguration, 4 metadata Struct',
  GetTaskRequest: '1 tenant string, 2 id string*, 3 history_length int32?',
  ListTasksRequest: '1 tenant string, 2 context_id string, 3 status TaskState, 4 page_size int32?, 5 page_token string, 6 history_length int32?, 7 status_timestamp_after Timestamp, 8 include_artifacts bool?',
  ListTasksResponse: '1 tasks Task[]*, 2 next_page_token string*, 3 page_size int32*, 4 total_size int32*',
  CancelTaskRequest: '1 tenant string, 2 id string*, 3 metadata Struct',
  GetTaskPushNotificationConfigRequest: '1 tenant string, 2 task_id string*, 3 id string*',
  DeleteTaskPushNotificationConfigRequest: '1 tenant string, 2 task_id string*, 3 id string*',
  SubscribeToTaskRequest: '1 tenant string, 2 id string*',
  ListTaskPushNotificationConfigsRequest: '4 tenant string, 1 task_id string*, 2 page_size int32, 3 page_token string',
  GetExtendedAgentCardRequest: '1 tenant string',
  SendMessageResponse: '1 task Task@payload, 2 message Message@payload',
  StreamResponse: '1 task Task@payload, 2 message Message@payload, 3 status_update TaskStatusUpdateEvent@payload, 4 artifact_update TaskArtifactUpdateEvent@payload',
  ListTaskPushNotificationConfigsResponse: '1 configs TaskPushNotificationConfig[], 2 next_page_token string',
} as const;

/** Fields that A2A 1.1 adds, as it is planned. They are written and read where a server or a client has them. */
export const previewFields = {
  SendMessageConfiguration: '5 if_generation_match int64?, 6 timeline_length int32?',
  Task: '7 generation int64, 8 timeline TimelineEntry[]',
  Artifact: '7 start_generation int64, 8 end_generation int64',
  TaskStatusUpdateEvent: '5 generation int64',
  TaskArtifactUpdateEvent: '7 generation int64',
  GetTaskRequest: '4 current_generation int64?, 5 timeline_length int32?',
  // Labels are of an extension of ours: numbers that stay free for one organization.
  ListTasksRequest: '9 timeline_length int32?, 50001 labels string[], 50002 skill string, 50003 code string',
} as const satisfies Partial<Record<keyof typeof a2aMessages, string>>;

/** The messages that A2A 1.1 adds, as it is planned. */
const addedMessages = { TimelineEntry: '1 message Message@entry, 2 status TaskStatus@entry, 3 generation int64' };

/** The messages of A2A 1.0 with those fields, and those that 1.1 adds. */
export const previewMessages = Object.fromEntries(
  Object.entries({ ...a2aMessages, ...addedMessages }).map(([name, fields]) => {
    const added = (previewFields as Readonly<Record<string, string | undefined>>)[name];
    return [name, added ? `${fields}, ${added}` : fields];
  }),
) as Record<keyof typeof a2aMessages | keyof typeof addedMessages, string>;

/** The enums of A2A 1.0: names in the order of their numbers, from 0. */
export const a2aEnums = {
  TaskState: ['TASK_STATE_UNSPECIFIED', 'TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_REJECTED', 'TASK_STATE_AUTH_REQUIRED'],
  Role: ['ROLE_UNSPECIFIED', 'ROLE_USER', 'ROLE_AGENT'],
} as const;

/** One field as its row has it. */
export interface ProtoField {
  readonly number: number;
  /** As in the proto: `context_id`. */
  readonly name: string;
  /** As in JSON: `contextId`. */
  readonly jsonName: string;
  /** A type of the proto, or the name of a message or an enum. */
  readonly typeName: string;
  readonly label: 'single' | 'list' | 'map';
  /** Marked REQUIRED by the specification. */
  readonly isRequired: boolean;
  /** Whether the proto says `optional`. */
  readonly isOptional: boolean;
  /** The oneof that the field belongs to. */
  readonly oneof: string | undefined;
}

const row = /^(\d+) (\w+) ([\w.]+)(\[\]|\{\})?([*?])?(?:@(\w+))?$/;

/** The fields of a message of a table. Throws `TypeError` for a row that it cannot read. */
export function protoFields(message: string, rows: string): ProtoField[] {
  if (rows === '') return [];
  return rows.split(', ').map((line) => {
    const [, number, name, typeName, list, mark, oneof] = row.exec(line) ?? [];
    if (!name || !typeName) throw new TypeError(`No field of ${message} is written like "${line}"`);
    return {
      number: Number(number),
      name,
      jsonName: name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
      typeName,
      label: list === '[]' ? 'list' : list === '{}' ? 'map' : 'single',
      isRequired: mark === '*',
      isOptional: mark === '?',
      oneof,
    };
  });
}
