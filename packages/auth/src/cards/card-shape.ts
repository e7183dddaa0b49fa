/** The type of a member of a card. `json` is free JSON, which is signed unchanged. */
export type Kind =
  | 'text'
  | 'flag'
  | 'json'
  | { readonly message: Shape }
  | { readonly list: Kind }
  | { readonly map: Kind };

/**
 * When a member is signed: `always`, with its default if it is missing; `ifSet`, if present, even with its default;
 * `ifMore`, only if it differs from its default. Spec: §8.4.1.
 */
export type Presence = 'always' | 'ifSet' | 'ifMore';

/** The members of a message, by name. */
export type Shape = Readonly<Record<string, readonly [presence: Presence, kind: Kind]>>;

const always = (kind: Kind) => ['always', kind] as const;
const ifSet = (kind: Kind) => ['ifSet', kind] as const;
const ifMore = (kind: Kind) => ['ifMore', kind] as const;
const texts: Kind = { list: 'text' };
const scopes: Kind = { map: 'text' };

const agentInterface: Shape = {
  url: always('text'),
  protocolBinding: always('text'),
  tenant: ifMore('text'),
  protocolVersion: always('text'),
};

const extension: Shape = {
  uri: ifMore('text'),
  description: ifMore('text'),
  required: ifMore('flag'),
  params: ifSet('json'),
};

const capabilities: Shape = {
  streaming: ifSet('flag'),
  pushNotifications: ifSet('flag'),
  extensions: ifMore({ list: { message: extension } }),
  extendedAgentCard: ifSet('flag'),
};

const securityRequirements = ifMore({
  list: { message: { schemes: ifMore({ map: { message: { list: ifMore(texts) } } }) } },
});

const skill: Shape = {
  id: always('text'),
  name: always('text'),
  description: always('text'),
  tags: always(texts),
  examples: ifMore(texts),
  inputModes: ifMore(texts),
  outputModes: ifMore(texts),
  securityRequirements,
};

const flows: Shape = {
  authorizationCode: ifSet({
    message: {
      authorizationUrl: always('text'),
      tokenUrl: always('text'),
      refreshUrl: ifMore('text'),
      scopes: always(scopes),
      pkceRequired: ifMore('flag'),
    },
  }),
  clientCredentials: ifSet({
    message: { tokenUrl: always('text'), refreshUrl: ifMore('text'), scopes: always(scopes) },
  }),
  implicit: ifSet({
    message: { authorizationUrl: ifMore('text'), refreshUrl: ifMore('text'), scopes: ifMore(scopes) },
  }),
  password: ifSet({
    message: { tokenUrl: ifMore('text'), refreshUrl: ifMore('text'), scopes: ifMore(scopes) },
  }),
  deviceCode: ifSet({
    message: {
      deviceAuthorizationUrl: always('text'),
      tokenUrl: always('text'),
      refreshUrl: ifMore('text'),
      scopes: always(scopes),
    },
  }),
};

const description = ifMore('text');

const securityScheme: Shape = {
  apiKeySecurityScheme: ifSet({
    message: { description, location: always('text'), name: always('text') },
  }),
  httpAuthSecurityScheme: ifSet({
    message: { description, scheme: always('text'), bearerFormat: ifMore('text') },
  }),
  oauth2SecurityScheme: ifSet({
    message: { description, flows: always({ message: flows }), oauth2MetadataUrl: ifMore('text') },
  }),
  openIdConnectSecurityScheme: ifSet({ message: { description, openIdConnectUrl: always('text') } }),
  mtlsSecurityScheme: ifSet({ message: { description } }),
};

/** The members of a card that a signature covers: all of A2A 1.0 except `signatures`. Spec: §4.4.1, §8.4.1. */
export const cardShape: Shape = {
  name: always('text'),
  description: always('text'),
  supportedInterfaces: always({ list: { message: agentInterface } }),
  provider: ifSet({ message: { url: always('text'), organization: always('text') } }),
  version: always('text'),
  documentationUrl: ifSet('text'),
  capabilities: always({ message: capabilities }),
  securitySchemes: ifMore({ map: { message: securityScheme } }),
  securityRequirements,
  defaultInputModes: always(texts),
  defaultOutputModes: always(texts),
  skills: always({ list: { message: skill } }),
  iconUrl: ifSet('text'),
};
