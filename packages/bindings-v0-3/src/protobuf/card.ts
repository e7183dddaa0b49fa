import type { AgentCard } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { card } from '../translation/agent-card.ts';
import { encodeSchemes } from '../translation/security.ts';
import { compact, type Loose } from '../wire/codec.ts';
import type { ReportLoss } from '../wire/loss.ts';

// In protocol buffers, the security of a card of 0.3 has the members of 1.0, under another name.

/** The card of 0.3. */
export function writeCard(newer: AgentCard, report: ReportLoss): unknown {
  const { securitySchemes, securityRequirements, skills, ...rest } = newer;
  const older = card.encode({ ...rest, skills: [] }, { report }, '');
  // Reports what flows lose. The fields that they do not have in 0.3 are not written.
  if (securitySchemes) encodeSchemes(securitySchemes, report, 'securitySchemes');
  return compact({
    ...older,
    securitySchemes,
    security: securityRequirements,
    skills: skills.map(({ securityRequirements: security, ...skill }) => compact({ ...skill, security })),
  });
}

/** The card of 1.0. Throws `INVALID_AGENT_RESPONSE`. */
export function readCard(response: Loose, report: ReportLoss): AgentCard {
  const { securitySchemes, security, skills = [], ...rest }: Members = Object(response);
  try {
    return compact({
      ...card.decode({ ...rest, skills: [] }, { report }, ''),
      securitySchemes,
      securityRequirements: security,
      skills: skills.map(({ security: securityRequirements, ...skill }) =>
        compact({ ...skill, securityRequirements }),
      ),
    });
  } catch (cause) {
    throw new A2AError('INVALID_AGENT_RESPONSE', undefined, { cause });
  }
}

type Requirements = AgentCard['securityRequirements'];

/** The members that differ from those of JSON. */
interface Members extends Pick<AgentCard, 'securitySchemes'> {
  readonly security?: Requirements;
  readonly skills?: readonly (AgentCard['skills'][number] & { readonly security?: Requirements })[];
}
