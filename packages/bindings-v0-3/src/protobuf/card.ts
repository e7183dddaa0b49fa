import type { AgentCard, SecurityScheme } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { downCard, upCard } from '../translation/agent-card.ts';
import { downSchemes } from '../translation/security.ts';
import type { ReportLoss } from '../wire/loss.ts';
import type { V03AgentCard } from '../wire/objects.ts';
import { compact } from '../wire/shape.ts';

// In protocol buffers, the security of a card of 0.3 has the members of 1.0, under another name.

/** The card of 0.3. */
export function writeCard(card: AgentCard, report: ReportLoss): unknown {
  const { securitySchemes, securityRequirements, skills, ...rest } = card;
  const older = downCard({ ...rest, skills: [] }, report, '');
  // Reports what flows lose. The fields that they do not have in 0.3 are not written.
  if (securitySchemes) downSchemes(securitySchemes, report, 'securitySchemes');
  return compact({
    ...older,
    securitySchemes,
    security: securityRequirements,
    skills: skills.map(({ securityRequirements: security, ...skill }) => compact({ ...skill, security })),
  });
}

/** The card of 1.0. Throws `INVALID_AGENT_RESPONSE`. */
export function readCard(response: Readonly<Record<string, unknown>>, report: ReportLoss): AgentCard {
  const { securitySchemes, security, skills = [], ...rest } = response;
  try {
    return compact({
      ...upCard({ ...rest, skills: [] } as unknown as V03AgentCard, report, ''),
      securitySchemes: securitySchemes as Record<string, SecurityScheme> | undefined,
      securityRequirements: security as AgentCard['securityRequirements'],
      skills: (skills as Record<string, unknown>[]).map(({ security: securityRequirements, ...skill }) =>
        compact({ ...skill, securityRequirements }),
      ) as unknown as AgentCard['skills'],
    });
  } catch (cause) {
    throw new A2AError('INVALID_AGENT_RESPONSE', undefined, { cause });
  }
}
