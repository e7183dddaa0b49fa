import { FORM_INPUT, TASK_ERROR, TASK_PROGRESS, TYPED_SKILLS } from '@batonjs/extensions/client';
import type { Turn } from '@batonjs/server';
import type { Report } from './report.ts';
import type { Target } from './targets.ts';

/** One turn of a task of the gateway, at its agent. */
export interface Run {
  readonly target: Target;
  readonly turn: Turn;
  readonly report: Report;
  /** How long an agent may be out of reach, in milliseconds. */
  readonly unreachableMs: number;
}

/** The options of every call of the agent: those extensions are active that it offers and the gateway reads. */
export const optionsOf = ({ target: { agent }, turn, unreachableMs }: Run) => {
  const offered = new Set(agent.card.capabilities?.extensions?.map(({ uri }) => uri));
  const extensions = [TYPED_SKILLS, FORM_INPUT, TASK_PROGRESS, TASK_ERROR].filter((uri) => offered.has(uri));
  return { signal: turn.signal, followForMs: unreachableMs, extensions };
};
