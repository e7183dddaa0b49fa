import type { AgentExtension, AgentProvider } from '@batonjs/protocol';

type Metadata = Record<string, unknown>;

/** One piece of content, as A2A 0.3 has it. Spec: 0.3 §6.5. */
export type V03Part = V03TextPart | V03FilePart | V03DataPart;

/** Spec: 0.3 §6.5.1. */
export interface V03TextPart {
  kind: 'text';
  text: string;
  metadata?: Metadata;
}

/** Spec: 0.3 §6.5.2. */
export interface V03FilePart {
  kind: 'file';
  file: V03File;
  metadata?: Metadata;
}

/** A file by its bytes (base64) or its address. Spec: 0.3 §6.6. */
export type V03File = ({ bytes: string } | { uri: string }) & { name?: string; mimeType?: string };

/** Spec: 0.3 §6.5.3. */
export interface V03DataPart {
  kind: 'data';
  data: Record<string, unknown>;
  metadata?: Metadata;
}

/** Spec: 0.3 §6.4. */
export interface V03Message {
  kind: 'message';
  messageId: string;
  role: 'user' | 'agent';
  parts: V03Part[];
  contextId?: string;
  taskId?: string;
  referenceTaskIds?: string[];
  extensions?: string[];
  metadata?: Metadata;
}

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
export interface V03TaskStatus {
  state: V03TaskState;
  message?: V03Message;
  timestamp?: string;
}

/** Spec: 0.3 §6.7. */
export interface V03Artifact {
  artifactId: string;
  name?: string;
  description?: string;
  parts: V03Part[];
  extensions?: string[];
  metadata?: Metadata;
}

/** Spec: 0.3 §6.1. */
export interface V03Task {
  kind: 'task';
  id: string;
  contextId: string;
  status: V03TaskStatus;
  artifacts?: V03Artifact[];
  history?: V03Message[];
  metadata?: Metadata;
}

/** Spec: 0.3 §7.2.2. */
export interface V03StatusUpdate {
  kind: 'status-update';
  taskId: string;
  contextId: string;
  status: V03TaskStatus;
  /** Nothing follows in this stream. */
  final: boolean;
  metadata?: Metadata;
}

/** Spec: 0.3 §7.2.3. */
export interface V03ArtifactUpdate {
  kind: 'artifact-update';
  taskId: string;
  contextId: string;
  artifact: V03Artifact;
  append?: boolean;
  lastChunk?: boolean;
  metadata?: Metadata;
}

/** One event of a stream, and the body of a webhook. Spec: 0.3 §7.2.1. */
export type V03Event = V03Task | V03Message | V03StatusUpdate | V03ArtifactUpdate;

/** Spec: 0.3 §6.8. */
export interface V03PushConfig {
  id?: string;
  url: string;
  token?: string;
  authentication?: { schemes: string[]; credentials?: string };
}

/** Spec: 0.3 §6.10. */
export interface V03TaskPushConfig {
  taskId: string;
  pushNotificationConfig: V03PushConfig;
}

/** Spec: 0.3 §7.1.1. */
export interface V03SendParams {
  message: V03Message;
  configuration?: {
    acceptedOutputModes?: string[];
    blocking?: boolean;
    historyLength?: number;
    pushNotificationConfig?: V03PushConfig;
  };
  metadata?: Metadata;
}

/** The params of every other request. Spec: 0.3 §7.3 to §7.9. */
export interface V03TaskParams {
  id: string;
  historyLength?: number;
  pushNotificationConfigId?: string;
  metadata?: Metadata;
}

/** Spec: 0.3 §6.12. */
export interface V03Error {
  code: number;
  message: string;
  data?: unknown;
}

interface V03Described {
  description?: string;
}

interface V03Flow {
  authorizationUrl?: string;
  tokenUrl?: string;
  refreshUrl?: string;
  scopes: Record<string, string>;
}

/** The flows of one OAuth scheme, of which 0.3 may have several. */
export type V03Flows = Partial<
  Record<'authorizationCode' | 'clientCredentials' | 'implicit' | 'password', V03Flow>
>;

/** Spec: 0.3 §5.5.3. */
export type V03SecurityScheme = V03Described &
  (
    | { type: 'apiKey'; in: 'query' | 'header' | 'cookie'; name: string }
    | { type: 'http'; scheme: string; bearerFormat?: string }
    | { type: 'oauth2'; flows: V03Flows; oauth2MetadataUrl?: string }
    | { type: 'openIdConnect'; openIdConnectUrl: string }
    | { type: 'mutualTLS' }
  );

/** Spec: 0.3 §5.5.4. */
export interface V03Skill {
  id: string;
  name: string;
  description: string;
  tags: string[];
  examples?: string[];
  inputModes?: string[];
  outputModes?: string[];
  security?: Record<string, string[]>[];
}

/** Spec: 0.3 §5.5. */
export interface V03AgentCard {
  protocolVersion: string;
  name: string;
  description: string;
  url: string;
  preferredTransport?: string;
  additionalInterfaces?: { url: string; transport: string }[];
  iconUrl?: string;
  provider?: AgentProvider;
  version: string;
  documentationUrl?: string;
  capabilities: {
    streaming?: boolean;
    pushNotifications?: boolean;
    stateTransitionHistory?: boolean;
    extensions?: AgentExtension[];
  };
  securitySchemes?: Record<string, V03SecurityScheme>;
  security?: Record<string, string[]>[];
  defaultInputModes: string[];
  defaultOutputModes: string[];
  skills: V03Skill[];
  supportsAuthenticatedExtendedCard?: boolean;
  signatures?: { protected: string; signature: string; header?: Metadata }[];
}
