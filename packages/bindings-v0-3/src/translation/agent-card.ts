import type { AgentCard, AgentInterface } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { parseVersion, STATE_HISTORY } from '@batonjs/protocol/headers';
import { at, codec, compact, required, type Way } from '../wire/codec.ts';
import type { ReportLoss } from '../wire/loss.ts';
import type { V03AgentCard } from '../wire/objects.ts';
import {
  decodeRequirements,
  decodeSchemes,
  encodeRequirements,
  encodeScheme,
  encodeSchemes,
} from './security.ts';

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
