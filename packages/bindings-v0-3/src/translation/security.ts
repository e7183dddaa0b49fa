import type {
  AgentCard,
  AgentInterface,
  OAuthFlows,
  SecurityRequirement,
  SecurityScheme,
} from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { parseVersion, STATE_HISTORY } from '@batonjs/protocol/headers';
import { at, codec, compact, type Loose, required, type Way } from '../wire/codec.ts';
import type { ReportLoss } from '../wire/loss.ts';
import type { V03AgentCard, V03Flows, V03SecurityScheme } from '../wire/objects.ts';

type Schemes = Record<string, SecurityScheme>;
type V03Schemes = NonNullable<V03AgentCard['securitySchemes']>;
type V03Requirement = Record<string, string[]>;

const flowNames = ['authorizationCode', 'clientCredentials', 'implicit', 'password'] as const;
type FlowName = (typeof flowNames)[number];

/** The member of 1.0 that stands for each type of scheme in 0.3. */
const members = {
  apiKey: 'apiKeySecurityScheme',
  http: 'httpAuthSecurityScheme',
  oauth2: 'oauth2SecurityScheme',
  openIdConnect: 'openIdConnectSecurityScheme',
  mutualTLS: 'mtlsSecurityScheme',
} as const satisfies Record<V03SecurityScheme['type'], string>;

const flowsOf = (flows: V03Flows): FlowName[] => flowNames.filter((name) => flows?.[name] !== undefined);

/** The further names under which a scheme with several flows is known in 1.0, which has one flow per scheme. */
const aliases = (name: string, scheme: V03SecurityScheme | undefined): string[] =>
  scheme?.type === 'oauth2'
    ? flowsOf(scheme.flows)
        .slice(1)
        .map((flow) => `${name}#${flow}`)
    : [];

/** From 0.3. */
const decodeSchemes = (schemes: V03Schemes): Schemes =>
  Object.fromEntries(
    Object.entries(schemes).flatMap(([name, scheme]) => {
      if (scheme.type !== 'oauth2') return [[name, decodeScheme(scheme)]];
      const each = flowsOf(scheme.flows).map((flow) => ({ [flow]: scheme.flows[flow] }));
      return [name, ...aliases(name, scheme)].map((alias, n) => [
        alias,
        decodeScheme({ ...scheme, flows: each[n] ?? {} }),
      ]);
    }),
  );

function decodeScheme({ type, ...scheme }: V03SecurityScheme): SecurityScheme {
  const { in: location, ...rest }: Loose = scheme;
  // A scheme of an unknown type has no member, so that validation reports it.
  const known = Object.hasOwn(members, type) ? { [members[type]]: compact({ ...rest, location }) } : {};
  return known as SecurityScheme;
}

/** To 0.3. Schemes that {@link decodeSchemes} split are one again. */
export function encodeSchemes(schemes: Schemes, report: ReportLoss, path: string): V03Schemes {
  const older: V03Schemes = {};
  for (const [name, scheme] of Object.entries(schemes)) {
    const [base, flow] = split(name, schemes);
    const known = older[base];
    const next = encodeScheme(scheme, report, at(path, name));
    if (flow && known?.type === 'oauth2' && next.type === 'oauth2') Object.assign(known.flows, next.flows);
    else older[name] = next;
  }
  return older;
}

/** To 0.3, one scheme. */
function encodeScheme(scheme: SecurityScheme, report: ReportLoss, path: string): V03SecurityScheme {
  if ('apiKeySecurityScheme' in scheme) {
    const { location, ...rest } = scheme.apiKeySecurityScheme;
    return { type: 'apiKey', ...rest, in: location };
  }
  if ('httpAuthSecurityScheme' in scheme) return { type: 'http', ...scheme.httpAuthSecurityScheme };
  if ('openIdConnectSecurityScheme' in scheme)
    return { type: 'openIdConnect', ...scheme.openIdConnectSecurityScheme };
  if ('mtlsSecurityScheme' in scheme) return { type: 'mutualTLS', ...scheme.mtlsSecurityScheme };
  const { flows, ...rest } = scheme.oauth2SecurityScheme;
  const older = encodeFlows(flows, report, at(path, 'oauth2SecurityScheme.flows'));
  return { type: 'oauth2', ...rest, flows: older };
}

function encodeFlows(flows: OAuthFlows, report: ReportLoss, path: string): V03Flows {
  if ('deviceCode' in flows) {
    report('device-code', at(path, 'deviceCode'));
    return {};
  }
  if (!('authorizationCode' in flows)) return flows as V03Flows;
  const { pkceRequired, ...rest } = flows.authorizationCode;
  if (pkceRequired !== undefined) report('pkce-required', at(path, 'authorizationCode.pkceRequired'));
  return { authorizationCode: rest };
}

/** The scheme and the flow that a name was made of by {@link decodeSchemes}, or the name alone. */
function split(name: string, schemes: Schemes): [base: string, flow?: FlowName] {
  const mark = name.lastIndexOf('#');
  const base = name.slice(0, Math.max(0, mark));
  const own = flowIn(schemes[name]);
  const first = flowIn(schemes[base]);
  if (!own || !first || name.slice(mark + 1) !== own) return [name];
  const isAlias =
    flowNames.indexOf(own) > flowNames.indexOf(first) &&
    JSON.stringify(withoutFlow(schemes[name])) === JSON.stringify(withoutFlow(schemes[base]));
  return isAlias ? [base, own] : [name];
}

const flowIn = (scheme: SecurityScheme | undefined): FlowName | undefined =>
  scheme && 'oauth2SecurityScheme' in scheme
    ? flowNames.find((name) => name in scheme.oauth2SecurityScheme.flows)
    : undefined;

const withoutFlow = (scheme: SecurityScheme | undefined) =>
  scheme && 'oauth2SecurityScheme' in scheme && { ...scheme.oauth2SecurityScheme, flows: undefined };

/** From 0.3. A scheme with several flows becomes a choice between the schemes that it was split into. */
const decodeRequirements = (
  requirements: readonly V03Requirement[] | undefined,
  schemes: V03Schemes = {},
): SecurityRequirement[] | undefined =>
  requirements?.flatMap((requirement) =>
    Object.entries(requirement)
      .reduce<Record<string, { list: string[] }>[]>(
        (choices, [name, list]) =>
          choices.flatMap((choice) =>
            [name, ...aliases(name, schemes[name])].map((alias) => ({ ...choice, [alias]: { list } })),
          ),
        [{}],
      )
      .map((choice) => ({ schemes: choice })),
  );

/** To 0.3. Of a choice that {@link decodeRequirements} made, one is left. */
const encodeRequirements = (
  requirements: readonly SecurityRequirement[] | undefined,
  schemes: Schemes = {},
): V03Requirement[] | undefined =>
  requirements
    ?.map((requirement) => Object.entries(requirement.schemes ?? {}))
    .filter((entries) => entries.every(([name]) => split(name, schemes).length === 1))
    .map((entries) => Object.fromEntries(entries.map(([name, { list = [] }]) => [name, list])));

/** The version as cards of 1.0 have it. */
export const V03 = '0.3';
const FULL_VERSION = '0.3.0';
const USUAL_TRANSPORT = 'JSONRPC';

/** A card. `encode` throws `VERSION_NOT_SUPPORTED` unless the card has an interface of 0.3. */
export const card = required(codec<V03AgentCard, AgentCard>({ decode, encode }));

function decode(older: V03AgentCard, { report }: Way, path: string): AgentCard {
  const { protocolVersion, url, preferredTransport, additionalInterfaces = [], ...card } = older;
  const { security, securitySchemes, skills, supportsAuthenticatedExtendedCard, signatures, ...others } =
    card;
  const { capabilities: { stateTransitionHistory, ...capabilities } = {}, ...rest } = others;
  if (protocolVersion !== FULL_VERSION) report('protocol-version', at(path, 'protocolVersion'));
  if (preferredTransport === undefined) report('transport-implied', at(path, 'preferredTransport'));
  if (stateTransitionHistory !== (showsStateHistory(capabilities) || undefined))
    report('state-transition-history', at(path, 'capabilities.stateTransitionHistory'));
  if (signatures) report('signatures', at(path, 'signatures'));
  const supportedInterfaces: AgentInterface[] = [];
  for (const { url: address, transport } of [
    { url, transport: preferredTransport },
    ...additionalInterfaces,
  ]) {
    const entry = { url: address, protocolBinding: transport ?? USUAL_TRANSPORT, protocolVersion: V03 };
    if (supportedInterfaces.some((other) => isSame(other, entry)))
      report('interface-repeated', at(path, 'additionalInterfaces'));
    else supportedInterfaces.push(entry);
  }
  return compact({
    ...rest,
    supportedInterfaces,
    capabilities: compact({ ...capabilities, extendedAgentCard: supportsAuthenticatedExtendedCard }),
    securitySchemes: securitySchemes && decodeSchemes(securitySchemes),
    securityRequirements: decodeRequirements(security, securitySchemes),
    // Other values stay as they are, so that validation reports them.
    skills: Array.isArray(skills)
      ? skills.map(({ security, ...skill }) =>
          compact({ ...skill, securityRequirements: decodeRequirements(security, securitySchemes) }),
        )
      : skills,
  });
}

/** Whether an agent shows the changes of a task's state: what 0.3 has a capability for is an extension in 1.0. */
const showsStateHistory = ({ extensions }: AgentCard['capabilities']): boolean =>
  extensions?.some(({ uri }) => uri === STATE_HISTORY) === true;

const isSame = (one: AgentInterface, other: AgentInterface) =>
  one.url === other.url && one.protocolBinding === other.protocolBinding;

/** Whether an interface is one of 0.3. */
export const isV03 = ({ protocolVersion }: AgentInterface): boolean => parseVersion(protocolVersion) === V03;

function encode(newer: AgentCard, { report }: Way, path: string): V03AgentCard {
  const { supportedInterfaces, securityRequirements, securitySchemes, skills, signatures, ...card } = newer;
  const {
    capabilities: { extendedAgentCard, ...capabilities },
    ...rest
  } = card;
  const [main, ...others] = supportedInterfaces.filter(isV03);
  if (!main) throw new A2AError('VERSION_NOT_SUPPORTED', `${card.name} has no interface of A2A ${V03}`);
  if (others.length + 1 < supportedInterfaces.length)
    report('interface-newer', at(path, 'supportedInterfaces'));
  if ([main, ...others].some(({ tenant }) => tenant)) report('tenant', at(path, 'supportedInterfaces'));
  if (signatures) report('signatures', at(path, 'signatures'));
  const additional = others.map(({ url, protocolBinding: transport }) => ({ url, transport }));
  return compact({
    protocolVersion: FULL_VERSION,
    url: main.url,
    preferredTransport: main.protocolBinding,
    additionalInterfaces: additional.length > 0 ? additional : undefined,
    ...rest,
    capabilities: {
      ...capabilities,
      ...(showsStateHistory(capabilities) && { stateTransitionHistory: true }),
    },
    securitySchemes: securitySchemes && encodeSchemes(securitySchemes, report, at(path, 'securitySchemes')),
    security: encodeRequirements(securityRequirements, securitySchemes),
    skills: skills.map(({ securityRequirements, ...skill }) =>
      compact({ ...skill, security: encodeRequirements(securityRequirements, securitySchemes) }),
    ),
    supportsAuthenticatedExtendedCard: extendedAgentCard,
  });
}

/**
 * A card that readers of both versions understand: the members of 0.3 beside those of 1.0, and both spellings in every
 * security scheme. It has no signatures, because they would sign another text.
 */
export function bothCards(newer: AgentCard, report: ReportLoss): AgentCard & V03AgentCard {
  const { securitySchemes, signatures: _, ...rest } = newer;
  const older = card.encode(newer, { report }, '');
  const plain = (requirements: AgentCard['securityRequirements']) =>
    requirements && { security: encodeRequirements(requirements) };
  // Schemes of 1.0 that would merge into one in 0.3 stay apart: readers of both versions read each entry.
  const bothSchemes = Object.entries(securitySchemes ?? {}).map(([name, scheme]) => [
    name,
    { ...encodeScheme(scheme, () => {}, ''), ...scheme },
  ]);
  return {
    ...older,
    ...rest,
    capabilities: { ...older.capabilities, ...rest.capabilities },
    ...plain(newer.securityRequirements),
    ...(securitySchemes && { securitySchemes: Object.fromEntries(bothSchemes) }),
    skills: newer.skills.map((skill) => ({ ...skill, ...plain(skill.securityRequirements) })),
  };
}
