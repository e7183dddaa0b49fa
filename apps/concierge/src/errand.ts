import type { Message } from '@batonjs/server';

/** What a remote agent does for us. */
export interface Errand {
  readonly agent: string;
  readonly taskId?: string;
  readonly contextId?: string;
  /** What it asked last: not to be asked again while the answer is on its way. */
  readonly questionId?: string;
}

const key = 'errand';

/** Metadata by which a later turn finds the errand again, in whichever process it runs. */
export const remember = (errand: Errand): Record<string, unknown> => ({ [key]: errand });

/** The errand of this task, as the agent's last question tells. */
export function errandOf(messages: readonly Message[]): Errand | undefined {
  const last = messages.findLast(({ role, metadata }) => role === 'ROLE_AGENT' && metadata?.[key]);
  return last?.metadata?.[key] as Errand | undefined;
}

/** Words by which the sample agents are found; others are called by their names. */
const words: Readonly<Record<string, RegExp>> = {
  currency: /exchange|convert|currency|how much is|等于多少/i,
  'boat-designer': /boat|ship|sail|船/i,
  'trip-planner': /trip|travel|flight|hotel|snowmobile|\bspa\b/i,
  expense: /expense|reimburse|receipt/i,
};

/** Who of these is asked: by name, or by what the message is about. */
export function whoDoes(messages: readonly Message[], names: readonly string[]): string | undefined {
  const said = messages
    .filter(({ role }) => role === 'ROLE_USER')
    .flatMap(({ parts }) => parts.flatMap((part) => ('text' in part ? part.text : [])))
    .join('\n');
  return (
    names.find((name) => said.toLowerCase().includes(name)) ?? names.find((name) => words[name]?.test(said))
  );
}
