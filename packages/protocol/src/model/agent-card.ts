import * as z from 'zod';
import { message, type Oneof, oneof, optionalText, requiredText, struct } from './proto-json.ts';

const texts = z.array(z.string());
const scopes = z.record(z.string(), z.string());
const flag = z.boolean().optional();

/** An address of an agent, with its binding. `protocolVersion` is `Major.Minor`. Spec: §4.4.6. */
export const AgentInterface = message({
  url: requiredText,
  protocolBinding: requiredText,
  tenant: optionalText,
  protocolVersion: requiredText,
});
export type AgentInterface = z.infer<typeof AgentInterface>;

/** The organization that runs an agent. Spec: §4.4.2. */
export const AgentProvider = message({ url: requiredText, organization: requiredText });
export type AgentProvider = z.infer<typeof AgentProvider>;

/** An extension that an agent supports. Spec: §4.4.4. */
export const AgentExtension = message({
  uri: requiredText,
  description: optionalText,
  required: flag,
  params: struct.optional(),
});
export type AgentExtension = z.infer<typeof AgentExtension>;

/** The optional operations that an agent offers. Spec: §4.4.3. */
export const AgentCapabilities = message({
  streaming: flag,
  pushNotifications: flag,
  extensions: z.array(AgentExtension).optional(),
  extendedAgentCard: flag,
});
export type AgentCapabilities = z.infer<typeof AgentCapabilities>;

/** Schemes that a caller must all satisfy, each with its scopes. Of a list of requirements, one is enough. Spec: §4.5. */
export const SecurityRequirement = message({
  schemes: z.record(z.string(), message({ list: texts.optional() })).optional(),
});
export type SecurityRequirement = z.infer<typeof SecurityRequirement>;

/** An ability of an agent. Spec: §4.4.5. */
export const AgentSkill = message({
  id: requiredText,
  name: requiredText,
  description: z.string(),
  tags: texts,
  examples: texts.optional(),
  inputModes: texts.optional(),
  outputModes: texts.optional(),
  securityRequirements: z.array(SecurityRequirement).optional(),
});
export type AgentSkill = z.infer<typeof AgentSkill>;

/** A detached JWS over the card; both strings are base64url. Spec: §4.4.7. */
export const AgentCardSignature = message({
  protected: requiredText,
  signature: requiredText,
  header: struct.optional(),
});
export type AgentCardSignature = z.infer<typeof AgentCardSignature>;

/** A key in a header, a query parameter or a cookie. Spec: §4.5.2. */
export const APIKeySecurityScheme = message({
  description: optionalText,
  location: z.enum(['query', 'header', 'cookie']),
  name: requiredText,
});
export type APIKeySecurityScheme = z.infer<typeof APIKeySecurityScheme>;

/** An HTTP authentication scheme, such as `Bearer`. Spec: §4.5.3. */
export const HTTPAuthSecurityScheme = message({
  description: optionalText,
  scheme: requiredText,
  bearerFormat: optionalText,
});
export type HTTPAuthSecurityScheme = z.infer<typeof HTTPAuthSecurityScheme>;

/** OAuth 2.0 for a person in a browser. Spec: §4.5.8. */
export const AuthorizationCodeOAuthFlow = message({
  authorizationUrl: requiredText,
  tokenUrl: requiredText,
  refreshUrl: optionalText,
  scopes,
  pkceRequired: flag,
});
export type AuthorizationCodeOAuthFlow = z.infer<typeof AuthorizationCodeOAuthFlow>;

/** OAuth 2.0 between machines. Spec: §4.5.9. */
export const ClientCredentialsOAuthFlow = message({
  tokenUrl: requiredText,
  refreshUrl: optionalText,
  scopes,
});
export type ClientCredentialsOAuthFlow = z.infer<typeof ClientCredentialsOAuthFlow>;

/** OAuth 2.0 without a code; deprecated by the specification. Spec: §4.5.7. */
export const ImplicitOAuthFlow = message({
  authorizationUrl: optionalText,
  refreshUrl: optionalText,
  scopes: scopes.optional(),
});
export type ImplicitOAuthFlow = z.infer<typeof ImplicitOAuthFlow>;

/** OAuth 2.0 with a password; deprecated by the specification. Spec: §4.5.7. */
export const PasswordOAuthFlow = message({
  tokenUrl: optionalText,
  refreshUrl: optionalText,
  scopes: scopes.optional(),
});
export type PasswordOAuthFlow = z.infer<typeof PasswordOAuthFlow>;

/** OAuth 2.0 for devices without a keyboard. Spec: §4.5.10. */
export const DeviceCodeOAuthFlow = message({
  deviceAuthorizationUrl: requiredText,
  tokenUrl: requiredText,
  refreshUrl: optionalText,
  scopes,
});
export type DeviceCodeOAuthFlow = z.infer<typeof DeviceCodeOAuthFlow>;

/** The members of {@link OAuthFlows}, of which it has one. */
export interface OAuthFlow {
  authorizationCode: AuthorizationCodeOAuthFlow;
  clientCredentials: ClientCredentialsOAuthFlow;
  implicit: ImplicitOAuthFlow;
  password: PasswordOAuthFlow;
  deviceCode: DeviceCodeOAuthFlow;
}

/** Exactly one flow; an agent with two needs two named schemes. Spec: §4.5.7. */
export type OAuthFlows = Oneof<OAuthFlow>;
export const OAuthFlows = oneof<OAuthFlow>({
  authorizationCode: AuthorizationCodeOAuthFlow.optional(),
  clientCredentials: ClientCredentialsOAuthFlow.optional(),
  implicit: ImplicitOAuthFlow.optional(),
  password: PasswordOAuthFlow.optional(),
  deviceCode: DeviceCodeOAuthFlow.optional(),
});

/** OAuth 2.0, with one flow. Spec: §4.5.4. */
export const OAuth2SecurityScheme = message({
  description: optionalText,
  flows: OAuthFlows,
  oauth2MetadataUrl: optionalText,
});
export type OAuth2SecurityScheme = z.infer<typeof OAuth2SecurityScheme>;

/** OpenID Connect, by its discovery document. Spec: §4.5.5. */
export const OpenIdConnectSecurityScheme = message({
  description: optionalText,
  openIdConnectUrl: requiredText,
});
export type OpenIdConnectSecurityScheme = z.infer<typeof OpenIdConnectSecurityScheme>;

/** A client certificate. Spec: §4.5.6. */
export const MutualTlsSecurityScheme = message({ description: optionalText });
export type MutualTlsSecurityScheme = z.infer<typeof MutualTlsSecurityScheme>;

/** The members of {@link SecurityScheme}, of which it has one. */
export interface SecuritySchemeKind {
  apiKeySecurityScheme: APIKeySecurityScheme;
  httpAuthSecurityScheme: HTTPAuthSecurityScheme;
  oauth2SecurityScheme: OAuth2SecurityScheme;
  openIdConnectSecurityScheme: OpenIdConnectSecurityScheme;
  mtlsSecurityScheme: MutualTlsSecurityScheme;
}

/** How callers authenticate: exactly one member. Spec: §4.5.1. */
export type SecurityScheme = Oneof<SecuritySchemeKind>;
export const SecurityScheme = oneof<SecuritySchemeKind>({
  apiKeySecurityScheme: APIKeySecurityScheme.optional(),
  httpAuthSecurityScheme: HTTPAuthSecurityScheme.optional(),
  oauth2SecurityScheme: OAuth2SecurityScheme.optional(),
  openIdConnectSecurityScheme: OpenIdConnectSecurityScheme.optional(),
  mtlsSecurityScheme: MutualTlsSecurityScheme.optional(),
});

/** The description of an agent. It prefers the first of its `supportedInterfaces`. Spec: §4.4.1. */
export const AgentCard = message({
  name: requiredText,
  description: z.string(),
  supportedInterfaces: z.array(AgentInterface).min(1, 'must have at least one interface'),
  provider: AgentProvider.optional(),
  version: z.string(),
  documentationUrl: z.string().optional(),
  capabilities: AgentCapabilities,
  securitySchemes: z.record(z.string(), SecurityScheme).optional(),
  securityRequirements: z.array(SecurityRequirement).optional(),
  defaultInputModes: texts,
  defaultOutputModes: texts,
  skills: z.array(AgentSkill),
  signatures: z.array(AgentCardSignature).optional(),
  iconUrl: z.string().optional(),
});
export type AgentCard = z.infer<typeof AgentCard>;
