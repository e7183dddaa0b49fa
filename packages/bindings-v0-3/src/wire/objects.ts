import type {
  AgentCapabilities,
  AgentCard,
  AgentCardSignature,
  AgentSkill,
  APIKeySecurityScheme,
  Artifact,
  AuthorizationCodeOAuthFlow,
  HTTPAuthSecurityScheme,
  Message,
  MutualTlsSecurityScheme,
  OAuth2SecurityScheme,
  OpenIdConnectSecurityScheme,
  SendMessageConfiguration,
  SendMessageRequest,
  Struct,
  Task,
  TaskArtifactUpdateEvent,
  TaskPushNotificationConfig,
  TaskStatus,
  TaskStatusUpdateEvent,
} from '@batonjs/protocol';

/** An object of 1.0 as 0.3 has it: without some members, and with some of its own. */
type Older<Newer, Own, Dropped extends keyof Newer = never> = Omit<Newer, keyof Own | Dropped | 'tenant'> &
  Own;

/** One piece of content, as A2A 0.3 has it. Spec: 0.3 §6.5. */
export type V03Part = V03TextPart | V03FilePart | V03DataPart;

/** Spec: 0.3 §6.5.1. */
export type V03TextPart = { kind: 'text'; text: string; metadata?: Struct };

/** Spec: 0.3 §6.5.2. */
export type V03FilePart = { kind: 'file'; file: V03File; metadata?: Struct };

/** A file by its bytes (base64) or its address. Spec: 0.3 §6.6. */
export type V03File = ({ bytes: string } | { uri: string }) & { name?: string; mimeType?: string };

/** Spec: 0.3 §6.5.3. */
export type V03DataPart = { kind: 'data'; data: Struct; metadata?: Struct };

/** Spec: 0.3 §6.4. */
export type V03Message = Older<Message, { kind: 'message'; role: 'user' | 'agent'; parts: V03Part[] }>;

/** Spec: 0.3 §6.3. */
export type V03TaskState =
  | 'submitted'
  | 'working'
  | 'input-required'
  | 'completed'
  | 'canceled'
  | 'failed'
  | 'rejected'
  | 'auth-required'
  | 'unknown';

/** Spec: 0.3 §6.2. */
export type V03TaskStatus = Older<TaskStatus, { state: V03TaskState; message?: V03Message }>;

/** Spec: 0.3 §6.7. */
export type V03Artifact = Older<Artifact, { parts: V03Part[] }, 'startGeneration' | 'endGeneration'>;

/** Spec: 0.3 §6.1. */
export type V03Task = Older<
  Task,
  {
    kind: 'task';
    contextId: string;
    status: V03TaskStatus;
    artifacts?: V03Artifact[];
    history?: V03Message[];
  },
  'generation' | 'timeline'
>;

/** `final`: nothing follows in this stream. Spec: 0.3 §7.2.2. */
export type V03StatusUpdate = Older<
  TaskStatusUpdateEvent,
  { kind: 'status-update'; status: V03TaskStatus; final: boolean },
  'generation'
>;

/** Spec: 0.3 §7.2.3. */
export type V03ArtifactUpdate = Older<
  TaskArtifactUpdateEvent,
  { kind: 'artifact-update'; artifact: V03Artifact },
  'generation'
>;

/** One event of a stream, and the body of a webhook. Spec: 0.3 §7.2.1. */
export type V03Event = V03Task | V03Message | V03StatusUpdate | V03ArtifactUpdate;

/** Spec: 0.3 §6.8. */
export type V03PushConfig = Older<
  TaskPushNotificationConfig,
  { authentication?: { schemes: string[]; credentials?: string } },
  'taskId'
>;

/** Spec: 0.3 §6.10. */
export type V03TaskPushConfig = { taskId: string; pushNotificationConfig: V03PushConfig };

/** Spec: 0.3 §7.1.2. */
type V03Configuration = Older<
  SendMessageConfiguration,
  { blocking?: boolean; pushNotificationConfig?: V03PushConfig },
  'returnImmediately' | 'taskPushNotificationConfig' | 'ifGenerationMatch' | 'timelineLength'
>;

/** Spec: 0.3 §7.1.1. */
export type V03SendParams = Older<
  SendMessageRequest,
  { message: V03Message; configuration?: V03Configuration }
>;

/** The params of every other request. Spec: 0.3 §7.3 to §7.9. */
export type V03TaskParams = {
  id: string;
  historyLength?: number;
  pushNotificationConfigId?: string;
  metadata?: Struct;
};

/** Spec: 0.3 §6.12. */
export type V03Error = { code: number; message: string; data?: unknown };

type Flow = Partial<AuthorizationCodeOAuthFlow> & Pick<AuthorizationCodeOAuthFlow, 'scopes'>;

/** The flows of one OAuth scheme, of which 0.3 may have several. */
export type V03Flows = Partial<
  Record<'authorizationCode' | 'clientCredentials' | 'implicit' | 'password', Flow>
>;

/** Spec: 0.3 §5.5.3. */
export type V03SecurityScheme =
  | Older<APIKeySecurityScheme, { type: 'apiKey'; in: APIKeySecurityScheme['location'] }, 'location'>
  | Older<HTTPAuthSecurityScheme, { type: 'http' }>
  | Older<OAuth2SecurityScheme, { type: 'oauth2'; flows: V03Flows }>
  | Older<OpenIdConnectSecurityScheme, { type: 'openIdConnect' }>
  | Older<MutualTlsSecurityScheme, { type: 'mutualTLS' }>;

/** Schemes that a caller must all satisfy, each with its scopes. */
type Requirement = Record<string, string[]>;

/** Spec: 0.3 §5.5.4. */
export type V03Skill = Older<AgentSkill, { security?: Requirement[] }, 'securityRequirements'>;

/** Spec: 0.3 §5.5. */
export type V03AgentCard = Older<
  AgentCard,
  {
    protocolVersion: string;
    url: string;
    preferredTransport?: string;
    additionalInterfaces?: { url: string; transport: string }[];
    capabilities: Omit<AgentCapabilities, 'extendedAgentCard'> & { stateTransitionHistory?: boolean };
    securitySchemes?: Record<string, V03SecurityScheme>;
    security?: Requirement[];
    skills: V03Skill[];
    supportsAuthenticatedExtendedCard?: boolean;
    signatures?: AgentCardSignature[];
  },
  'supportedInterfaces' | 'securityRequirements'
>;
