import type { OAuthFlows, SecurityRequirement, SecurityScheme } from '@batonjs/protocol';
import { at, compact, type Loose } from '../wire/codec.ts';
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
export const decodeSchemes = (schemes: V03Schemes): Schemes =>
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
export function encodeScheme(scheme: SecurityScheme, report: ReportLoss, path: string): V03SecurityScheme {
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
export const decodeRequirements = (
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
export const encodeRequirements = (
  requirements: readonly SecurityRequirement[] | undefined,
  schemes: Schemes = {},
): V03Requirement[] | undefined =>
  requirements
    ?.map((requirement) => Object.entries(requirement.schemes ?? {}))
    .filter((entries) => entries.every(([name]) => split(name, schemes).length === 1))
    .map((entries) => Object.fromEntries(entries.map(([name, { list = [] }]) => [name, list])));
