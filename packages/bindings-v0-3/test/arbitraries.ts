import { A2AError, type ErrorReason, errorTable } from '@batonjs/protocol/errors';
import { STATE_HISTORY } from '@batonjs/protocol/headers';
import fc from 'fast-check';

// Any valid value of either version, as it comes out of a JSON parser: no minus zero, no `__proto__`, nothing undefined.

const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (name, member) => (name === '__proto__' ? undefined : member));

const text = fc.string({ maxLength: 8 });
const id = fc.string({ minLength: 1, maxLength: 8 });
const texts = fc.array(text, { maxLength: 3 });
const json = fc.jsonValue({ maxDepth: 2 }).map(plain);
const asStruct = (value: unknown) => plain(value) as Record<string, unknown>;
const struct = fc.dictionary(text, json, { maxKeys: 3, noNullPrototype: true }).map(asStruct);
/** Metadata of parts in 0.3 may hold members of a translation, or other members of the same names. */
const olderMetadata = fc
  .dictionary(
    fc.oneof(text, fc.constantFrom('data_part_compat', 'https://batonjs.dev/a2a/part')),
    fc.oneof(json, fc.constantFrom(true, { mediaType: 'text/plain' }, { empty: true })),
    { maxKeys: 3, noNullPrototype: true },
  )
  .map(asStruct);
const url = id.map((name) => `https://agents.example/${encodeURIComponent(name)}`);
const time = fc
  .date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());

/** An object with these members, of which the named ones are always there. */
function object(
  members: Record<string, fc.Arbitrary<unknown>>,
  required: readonly string[],
  // biome-ignore lint/suspicious/noExplicitAny: the table decides which values are valid, which types cannot follow
): fc.Arbitrary<any> {
  return fc.record(members, { requiredKeys: required as never[], noNullPrototype: true });
}

const metadata = struct;
const file = { name: text, mimeType: text };
const about = { filename: text, mediaType: text, metadata };

const olderPart = fc.oneof(
  object({ kind: fc.constant('text'), text, metadata: olderMetadata }, ['kind', 'text']),
  object({ kind: fc.constant('data'), data: struct, metadata: olderMetadata }, ['kind', 'data']),
  object(
    {
      kind: fc.constant('data'),
      data: fc.record({ value: json }, { noNullPrototype: true }),
      metadata: fc.constant({ data_part_compat: true }),
    },
    ['kind', 'data', 'metadata'],
  ),
  object(
    { kind: fc.constant('file'), file: object({ bytes: text, ...file }, ['bytes']), metadata: olderMetadata },
    ['kind', 'file'],
  ),
  object(
    { kind: fc.constant('file'), file: object({ uri: url, ...file }, ['uri']), metadata: olderMetadata },
    ['kind', 'file'],
  ),
);
const newerPart = fc.oneof(
  object({ text, ...about }, ['text']),
  object({ raw: text, ...about }, ['raw']),
  object({ url, ...about }, ['url']),
  object({ data: json, ...about }, ['data']),
);

const messageOf = (part: fc.Arbitrary<unknown>, roles: readonly string[], kind: object) =>
  object(
    {
      ...kind,
      messageId: id,
      role: fc.constantFrom(...roles),
      parts: fc.array(part, { minLength: 1, maxLength: 3 }),
      contextId: id,
      taskId: id,
      referenceTaskIds: texts,
      extensions: texts,
      metadata,
    },
    ['kind', 'messageId', 'role', 'parts'].filter((name) => name !== 'kind' || 'kind' in kind),
  );
const artifactOf = (part: fc.Arbitrary<unknown>) =>
  object(
    {
      artifactId: id,
      name: text,
      description: text,
      parts: fc.array(part, { minLength: 1, maxLength: 2 }),
      extensions: texts,
      metadata,
    },
    ['artifactId', 'parts'],
  );
const kind = (name: string) => ({ kind: fc.constant(name) });

const olderMessage = messageOf(olderPart, ['user', 'agent'], kind('message'));
const newerMessage = messageOf(newerPart, ['ROLE_USER', 'ROLE_AGENT'], {});
const olderArtifact = artifactOf(olderPart);
const newerArtifact = artifactOf(newerPart);

const olderStates = [
  'submitted',
  'working',
  'input-required',
  'completed',
  'canceled',
  'failed',
  'rejected',
  'auth-required',
  'unknown',
];
const newerStates = [
  'UNSPECIFIED',
  'SUBMITTED',
  'WORKING',
  'COMPLETED',
  'FAILED',
  'CANCELED',
  'INPUT_REQUIRED',
  'REJECTED',
  'AUTH_REQUIRED',
].map((state) => `TASK_STATE_${state}`);
const olderStatus = object(
  { state: fc.constantFrom(...olderStates), message: olderMessage, timestamp: time },
  ['state'],
);
const newerStatus = object(
  { state: fc.constantFrom(...newerStates, 'TASK_STATE_PAUSED'), message: newerMessage, timestamp: time },
  ['state'],
);

const olderTask = object(
  {
    ...kind('task'),
    id,
    contextId: id,
    status: olderStatus,
    artifacts: fc.array(olderArtifact, { maxLength: 2 }),
    history: fc.array(olderMessage, { maxLength: 2 }),
    metadata,
  },
  ['kind', 'id', 'contextId', 'status'],
);
const newerTask = object(
  {
    id,
    contextId: id,
    status: newerStatus,
    artifacts: fc.array(newerArtifact, { maxLength: 2 }),
    history: fc.array(newerMessage, { maxLength: 2 }),
    metadata,
  },
  ['id', 'status'],
);

const olderStatusUpdate = object(
  { ...kind('status-update'), taskId: id, contextId: id, status: olderStatus, final: fc.boolean(), metadata },
  ['kind', 'taskId', 'contextId', 'status', 'final'],
);
const newerStatusUpdate = object({ taskId: id, contextId: id, status: newerStatus, metadata }, [
  'taskId',
  'contextId',
  'status',
]);
const chunk = { append: fc.boolean(), lastChunk: fc.boolean(), metadata };
const olderArtifactUpdate = object(
  { ...kind('artifact-update'), taskId: id, contextId: id, artifact: olderArtifact, ...chunk },
  ['kind', 'taskId', 'contextId', 'artifact'],
);
const newerArtifactUpdate = object({ taskId: id, contextId: id, artifact: newerArtifact, ...chunk }, [
  'taskId',
  'contextId',
  'artifact',
]);

const olderEvent = fc.oneof(olderTask, olderMessage, olderArtifactUpdate);
const only = (name: string, value: fc.Arbitrary<unknown>) => object({ [name]: value }, [name]);
const newerEvent = fc.oneof(
  only('task', newerTask),
  only('message', newerMessage),
  only('statusUpdate', newerStatusUpdate),
  only('artifactUpdate', newerArtifactUpdate),
);

const olderWebhook = object(
  {
    id,
    url,
    token: text,
    authentication: object({ schemes: fc.array(id, { maxLength: 2 }), credentials: text }, ['schemes']),
  },
  ['url'],
);
const newerWebhook = {
  tenant: id,
  id,
  url,
  token: text,
  authentication: object({ scheme: id, credentials: text }, ['scheme']),
};
const olderPushConfig = object({ taskId: id, pushNotificationConfig: olderWebhook }, [
  'taskId',
  'pushNotificationConfig',
]);
const newerPushConfig = object({ ...newerWebhook, taskId: id }, ['url', 'taskId']);

const configuration = { acceptedOutputModes: texts, historyLength: fc.nat() };
const olderSendRequest = object(
  {
    message: olderMessage,
    configuration: object(
      { ...configuration, blocking: fc.boolean(), pushNotificationConfig: olderWebhook },
      [],
    ),
    metadata,
  },
  ['message'],
);
const newerSendRequest = object(
  {
    tenant: id,
    message: newerMessage,
    configuration: object(
      {
        ...configuration,
        returnImmediately: fc.boolean(),
        taskPushNotificationConfig: object(newerWebhook, ['url']),
      },
      [],
    ),
    metadata,
  },
  ['message'],
);

const codes = [...new Set(Object.values(errorTable).map(({ jsonRpc }) => jsonRpc as number)), -32050, 1];
const olderError = object(
  {
    code: fc.constantFrom(...codes),
    message: text,
    data: fc.oneof(
      json,
      struct,
      fc.constantFrom({ reason: 'TASK_NOT_FOUND' }, { reason: 'TASK_NOT_FOUND', metadata: { taskId: 't' } }),
    ),
  },
  ['code', 'message'],
);
const newerError = fc
  .record({
    reason: fc.constantFrom(...(Object.keys(errorTable) as ErrorReason[])),
    message: text,
    metadata: fc.option(
      fc.dictionary(
        id.filter((name) => name !== '__proto__'),
        text,
        { noNullPrototype: true },
      ),
      { nil: undefined },
    ),
    details: fc.array(
      struct.map((members) => ({ ...members, '@type': 'type.googleapis.com/x' })),
      { maxLength: 2 },
    ),
  })
  .map(({ reason, message, metadata, details }) => new A2AError(reason, message, { metadata, details }));

const scopes = fc.dictionary(
  id.filter((name) => name !== '__proto__'),
  text,
  { maxKeys: 2, noNullPrototype: true },
);
const flow = object({ authorizationUrl: url, tokenUrl: url, refreshUrl: url, scopes }, ['scopes']);
const description = { description: text };
const olderScheme = fc.oneof(
  object(
    {
      type: fc.constant('apiKey'),
      in: fc.constantFrom('query', 'header', 'cookie'),
      name: id,
      ...description,
    },
    ['type', 'in', 'name'],
  ),
  object({ type: fc.constant('http'), scheme: id, bearerFormat: text, ...description }, ['type', 'scheme']),
  object(
    {
      type: fc.constant('oauth2'),
      flows: object({ authorizationCode: flow, clientCredentials: flow, implicit: flow, password: flow }, []),
      oauth2MetadataUrl: url,
      ...description,
    },
    ['type', 'flows'],
  ),
  object({ type: fc.constant('openIdConnect'), openIdConnectUrl: url, ...description }, [
    'type',
    'openIdConnectUrl',
  ]),
  object({ type: fc.constant('mutualTLS'), ...description }, ['type']),
);
const pkceFlow = object(
  { authorizationUrl: url, tokenUrl: url, refreshUrl: url, scopes, pkceRequired: fc.boolean() },
  ['authorizationUrl', 'tokenUrl', 'scopes'],
);
const newerScheme = fc.oneof(
  only(
    'apiKeySecurityScheme',
    object({ location: fc.constantFrom('query', 'header', 'cookie'), name: id, ...description }, [
      'location',
      'name',
    ]),
  ),
  only('httpAuthSecurityScheme', object({ scheme: id, bearerFormat: text, ...description }, ['scheme'])),
  only(
    'oauth2SecurityScheme',
    object(
      {
        flows: fc.oneof(
          only('authorizationCode', pkceFlow),
          only('clientCredentials', flow),
          only('implicit', flow),
          only('password', flow),
          only('deviceCode', flow),
        ),
        oauth2MetadataUrl: url,
        ...description,
      },
      ['flows'],
    ),
  ),
  only(
    'openIdConnectSecurityScheme',
    object({ openIdConnectUrl: url, ...description }, ['openIdConnectUrl']),
  ),
  only('mtlsSecurityScheme', object(description, [])),
);
const names = ['key', 'login', 'badge'] as const;
const schemesOf = (scheme: fc.Arbitrary<unknown>) =>
  object({ key: scheme, login: scheme, badge: scheme }, []);
const olderRequirements = fc.array(object(Object.fromEntries(names.map((name) => [name, texts])), []), {
  maxLength: 2,
});
const newerRequirements = fc.array(
  only('schemes', object(Object.fromEntries(names.map((name) => [name, only('list', texts)])), [])),
  { maxLength: 2 },
);

const skill = {
  id,
  name: id,
  description: text,
  tags: texts,
  examples: texts,
  inputModes: texts,
  outputModes: texts,
};
const card = {
  name: id,
  description: text,
  version: text,
  iconUrl: url,
  provider: object({ url, organization: id }, ['url', 'organization']),
  documentationUrl: url,
  defaultInputModes: texts,
  defaultOutputModes: texts,
};
const cardMembers = [
  'name',
  'description',
  'version',
  'defaultInputModes',
  'defaultOutputModes',
  'capabilities',
  'skills',
];
const capabilities = {
  streaming: fc.boolean(),
  pushNotifications: fc.boolean(),
  extensions: fc.array(
    object({ uri: fc.oneof(url, fc.constant(STATE_HISTORY)), required: fc.boolean(), params: struct }, [
      'uri',
    ]),
    {
      maxLength: 1,
    },
  ),
};
const transport = fc.constantFrom('JSONRPC', 'HTTP+JSON', 'GRPC');
const signatures = fc.array(
  object({ protected: id, signature: id, header: struct }, ['protected', 'signature']),
  { minLength: 1, maxLength: 1 },
);

const olderCard = object(
  {
    ...card,
    protocolVersion: fc.constantFrom('0.3.0', '0.3.0', '0.3', '0.2.6'),
    url,
    preferredTransport: transport,
    additionalInterfaces: fc.array(object({ url, transport }, ['url', 'transport']), {
      minLength: 1,
      maxLength: 3,
    }),
    capabilities: object({ ...capabilities, stateTransitionHistory: fc.boolean() }, []),
    securitySchemes: schemesOf(olderScheme),
    security: olderRequirements,
    skills: fc.array(
      object({ ...skill, security: olderRequirements }, ['id', 'name', 'description', 'tags']),
      { maxLength: 2 },
    ),
    supportsAuthenticatedExtendedCard: fc.boolean(),
    signatures,
  },
  [...cardMembers, 'protocolVersion', 'url'],
);
const newerInterface = (versions: readonly string[]) =>
  object({ url, protocolBinding: transport, protocolVersion: fc.constantFrom(...versions), tenant: id }, [
    'url',
    'protocolBinding',
    'protocolVersion',
  ]);
const newerCard = object(
  {
    ...card,
    supportedInterfaces: fc
      .tuple(newerInterface(['0.3']), fc.array(newerInterface(['0.3', '1.0']), { maxLength: 2 }))
      .map(([first, others]) => [
        ...others.filter(({ protocolVersion }) => protocolVersion === '1.0'),
        first,
      ]),
    capabilities: object({ ...capabilities, extendedAgentCard: fc.boolean() }, []),
    securitySchemes: schemesOf(newerScheme),
    securityRequirements: newerRequirements,
    skills: fc.array(
      object({ ...skill, securityRequirements: newerRequirements }, ['id', 'name', 'description', 'tags']),
      { maxLength: 2 },
    ),
    signatures,
  },
  [...cardMembers, 'supportedInterfaces'],
);

/** Every kind of object, in both versions, under its name in `translations`. */
export const arbitraries = {
  part: { older: olderPart, newer: newerPart },
  message: { older: olderMessage, newer: newerMessage },
  artifact: { older: olderArtifact, newer: newerArtifact },
  status: { older: olderStatus, newer: newerStatus },
  task: { older: olderTask, newer: newerTask },
  statusUpdate: { older: olderStatusUpdate, newer: newerStatusUpdate },
  artifactUpdate: { older: olderArtifactUpdate, newer: newerArtifactUpdate },
  event: { older: fc.oneof(olderEvent, olderStatusUpdate), newer: newerEvent },
  sendRequest: { older: olderSendRequest, newer: newerSendRequest },
  pushConfig: { older: olderPushConfig, newer: newerPushConfig },
  card: { older: olderCard, newer: newerCard },
  error: { older: olderError, newer: newerError },
};
