import type { AgentClient } from '@batonjs/client';
import { FORM_INPUT, TASK_ERROR, TASK_PROGRESS, TYPED_SKILLS } from '@batonjs/extensions/client';

/** The extensions that the agent offers, of those that make results and questions better. */
export function extensionsOf({ card }: Pick<AgentClient, 'card'>): string[] {
  const offered = card.capabilities?.extensions?.map(({ uri }) => uri) ?? [];
  return [FORM_INPUT, TASK_ERROR, TASK_PROGRESS, TYPED_SKILLS].filter((uri) => offered.includes(uri));
}
