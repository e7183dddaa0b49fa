import type { AgentCard, AgentInterface, AgentSkill } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { parseVersion, STATE_HISTORY } from '@batonjs/protocol/headers';
import type { ReportLoss } from '../wire/loss.ts';
import type { V03AgentCard, V03SecurityScheme, V03Skill } from '../wire/objects.ts';
import { at, compact, mapped } from '../wire/shape.ts';
import { downRequirements, downScheme, downSchemes, upRequirements, upSchemes } from './security.ts';

/** The version as cards of 1.0 have it. */
export const V03 = '0.3';
const FULL_VERSION = '0.3.0';
const USUAL_TRANSPORT = 'JSONRPC';

/** From 0.3. */
export function upCard(card: V03AgentCard, report: ReportLoss, path: string): AgentCard {
  const {
    protocolVersion,
    url,
    preferredTransport,
    additionalInterfaces = [],
    security,
    securitySchemes,
    skills,
    supportsAuthenticatedExtendedCard,
    signatures,
    capabilities: { stateTransitionHistory, ...capabilities } = {},
    ...rest
  } = card;
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
    securitySchemes: securitySchemes && upSchemes(securitySchemes),
    securityRequirements: security && upRequirements(security, securitySchemes),
    skills: mapped(skills, (skill) => upSkill(skill, securitySchemes)),
  });
}

/** Whether an agent shows the changes of a task's state: what 0.3 has a capability for is an extension in 1.0. */
const showsStateHistory = ({ extensions }: AgentCard['capabilities']): boolean =>
  extensions?.some(({ uri }) => uri === STATE_HISTORY) === true;

const isSame = (one: AgentInterface, other: AgentInterface) =>
  one.url === other.url && one.protocolBinding === other.protocolBinding;

const upSkill = (
  { security, ...rest }: V03Skill,
  schemes: Record<string, V03SecurityScheme> | undefined,
): AgentSkill => compact({ ...rest, securityRequirements: security && upRequirements(security, schemes) });

/** Whether an interface is one of 0.3. */
export const isV03 = ({ protocolVersion }: AgentInterface): boolean => parseVersion(protocolVersion) === V03;

/** To 0.3. Throws `VERSION_NOT_SUPPORTED` unless the card has an interface of 0.3. */
export function downCard(card: AgentCard, report: ReportLoss, path: string): V03AgentCard {
  const {
    supportedInterfaces,
    securityRequirements,
    securitySchemes,
    skills,
    signatures,
    capabilities: { extendedAgentCard, ...capabilities },
    name,
    description,
    ...rest
  } = card;
  const [main, ...others] = supportedInterfaces.filter(isV03);
  if (!main) throw new A2AError('VERSION_NOT_SUPPORTED', `${name} has no interface of A2A ${V03}`);
  if (others.length + 1 < supportedInterfaces.length)
    report('interface-newer', at(path, 'supportedInterfaces'));
  if ([main, ...others].some(({ tenant }) => tenant)) report('tenant', at(path, 'supportedInterfaces'));
  if (signatures) report('signatures', at(path, 'signatures'));
  return compact({
    protocolVersion: FULL_VERSION,
    name,
    description,
    url: main.url,
    preferredTransport: main.protocolBinding,
    additionalInterfaces:
      others.length > 0
        ? others.map(({ url, protocolBinding: transport }) => ({ url, transport }))
        : undefined,
    ...rest,
    capabilities: {
      ...capabilities,
      ...(showsStateHistory(capabilities) && { stateTransitionHistory: true }),
    },
    securitySchemes: securitySchemes && downSchemes(securitySchemes, report, at(path, 'securitySchemes')),
    security: securityRequirements && downRequirements(securityRequirements, securitySchemes),
    skills: skills.map(({ securityRequirements, ...skill }) =>
      compact({
        ...skill,
        security: securityRequirements && downRequirements(securityRequirements, securitySchemes),
      }),
    ),
    supportsAuthenticatedExtendedCard: extendedAgentCard,
  });
}

/**
 * A card that readers of both versions understand: the members of 0.3 beside those of 1.0, and both spellings in every
 * security scheme. It has no signatures, because they would sign another text.
 */
export function bothCards(card: AgentCard, report: ReportLoss, path: string): AgentCard & V03AgentCard {
  const { securitySchemes = {}, signatures: _, ...rest } = card;
  const older = downCard(card, report, path);
  const plain = (requirements: AgentCard['securityRequirements']) =>
    requirements && { security: downRequirements(requirements) };
  return {
    ...older,
    ...rest,
    capabilities: { ...older.capabilities, ...rest.capabilities },
    ...plain(card.securityRequirements),
    ...(card.securitySchemes && {
      // Schemes of 1.0 that would merge into one in 0.3 stay apart: readers of both versions read each entry.
      securitySchemes: Object.fromEntries(
        Object.entries(securitySchemes).map(([name, scheme]) => [
          name,
          { ...downScheme(scheme, () => {}, ''), ...scheme },
        ]),
      ),
    }),
    skills: card.skills.map((skill) => ({ ...skill, ...plain(skill.securityRequirements) })),
  } as AgentCard & V03AgentCard;
}
