import type { OAuthFlows, SecurityRequirement, SecurityScheme } from '@batonjs/protocol';
import type { ReportLoss } from '../wire/loss.ts';
import type { V03Flows, V03SecurityScheme } from '../wire/objects.ts';
import { at, compact } from '../wire/shape.ts';

type Schemes = Record<string, SecurityScheme>;
type V03Schemes = Record<string, V03SecurityScheme>;
type V03Requirement = Record<string, string[]>;

const flowNames = ['authorizationCode', 'clientCredentials', 'implicit', 'password'] as const;
type FlowName = (typeof flowNames)[number];

const flowsOf = (flows: V03Flows): FlowName[] => flowNames.filter((name) => flows?.[name] !== undefined);

/** The further names under which a scheme with several flows is known in 1.0, which has one flow per scheme. */
const aliases = (name: string, scheme: V03SecurityScheme | undefined): string[] =>
  scheme?.type === 'oauth2'
    ? flowsOf(scheme.flows)
        .slice(1)
        .map((flow) => `${name}#${flow}`)
    : [];

/** From 0.3. */
export function upSchemes(schemes: V03Schemes): Schemes {
  return Object.fromEntries(
    Object.entries(schemes).flatMap(([name, scheme]): [string, SecurityScheme][] => {
      if (scheme.type !== 'oauth2') return [[name, upScheme(scheme)]];
      const names = [name, ...aliases(name, scheme)];
      const { flows, type: _, ...rest } = scheme;
      const each = flowsOf(flows).map((flow) => ({ [flow]: flows[flow] }) as unknown as OAuthFlows);
      return names.map((alias, n) => [
        alias,
        { oauth2SecurityScheme: { ...rest, flows: each[n] ?? ({} as OAuthFlows) } },
      ]);
    }),
  );
}

function upScheme(scheme: Exclude<V03SecurityScheme, { type: 'oauth2' }>): SecurityScheme {
  switch (scheme.type) {
    case 'apiKey': {
      const { type: _, in: location, ...rest } = scheme;
      return { apiKeySecurityScheme: { ...rest, location } };
    }
    case 'http': {
      const { type: _, ...rest } = scheme;
      return { httpAuthSecurityScheme: rest };
    }
    case 'openIdConnect': {
      const { type: _, ...rest } = scheme;
      return { openIdConnectSecurityScheme: rest };
    }
    case 'mutualTLS': {
      const { type: _, ...rest } = scheme;
      return { mtlsSecurityScheme: rest };
    }
    default:
      return {} as SecurityScheme;
  }
}

/** To 0.3. Schemes that {@link upSchemes} split are one again. */
export function downSchemes(schemes: Schemes, report: ReportLoss, path: string): V03Schemes {
  const older: V03Schemes = {};
  for (const [name, scheme] of Object.entries(schemes)) {
    const [base, flow] = split(name, schemes);
    const known = older[base];
    const next = downScheme(scheme, report, at(path, name));
    if (flow && known?.type === 'oauth2' && next.type === 'oauth2') Object.assign(known.flows, next.flows);
    else older[name] = next;
  }
  return older;
}

/** To 0.3, one scheme. */
export function downScheme(scheme: SecurityScheme, report: ReportLoss, path: string): V03SecurityScheme {
  if ('apiKeySecurityScheme' in scheme) {
    const { location, ...rest } = scheme.apiKeySecurityScheme;
    return { type: 'apiKey', ...rest, in: location };
  }
  if ('httpAuthSecurityScheme' in scheme) return { type: 'http', ...scheme.httpAuthSecurityScheme };
  if ('openIdConnectSecurityScheme' in scheme)
    return { type: 'openIdConnect', ...scheme.openIdConnectSecurityScheme };
  if ('mtlsSecurityScheme' in scheme) return { type: 'mutualTLS', ...scheme.mtlsSecurityScheme };
  const { flows, ...rest } = scheme.oauth2SecurityScheme;
  return { type: 'oauth2', ...rest, flows: downFlows(flows, report, at(path, 'oauth2SecurityScheme.flows')) };
}

function downFlows(flows: OAuthFlows, report: ReportLoss, path: string): V03Flows {
  if ('deviceCode' in flows) {
    report('device-code', at(path, 'deviceCode'));
    return {};
  }
  if (!('authorizationCode' in flows)) return flows as V03Flows;
  const { pkceRequired, ...rest } = flows.authorizationCode;
  if (pkceRequired !== undefined) report('pkce-required', at(path, 'authorizationCode.pkceRequired'));
  return { authorizationCode: rest };
}

/** The scheme and the flow that a name was made of by {@link upSchemes}, or the name alone. */
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
  scheme && 'oauth2SecurityScheme' in scheme && compact({ ...scheme.oauth2SecurityScheme, flows: undefined });

/** From 0.3. A scheme with several flows becomes a choice between the schemes that it was split into. */
export const upRequirements = (
  requirements: readonly V03Requirement[],
  schemes: V03Schemes = {},
): SecurityRequirement[] =>
  requirements.flatMap((requirement) =>
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

/** To 0.3. Of a choice that {@link upRequirements} made, one is left. */
export const downRequirements = (
  requirements: readonly SecurityRequirement[],
  schemes: Schemes = {},
): V03Requirement[] =>
  requirements
    .map((requirement) => Object.entries(requirement.schemes ?? {}))
    .filter((entries) => entries.every(([name]) => split(name, schemes).length === 1))
    .map((entries) => Object.fromEntries(entries.map(([name, { list = [] }]) => [name, list])));
