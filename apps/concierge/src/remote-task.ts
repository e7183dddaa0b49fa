import type { Message } from '@batonjs/server';

/** The remote agent that works on a task of the user, and the task that it works on there. */
export interface RemoteTask {
  readonly agent: string;
  readonly taskId?: string;
  readonly contextId?: string;
  /** The id of its last question, so that it is not repeated while the answer is on its way. */
  readonly questionId?: string;
}

const key = 'remoteTask';

/** The metadata from which a later turn, in any process, reads the remote task again. */
export const remember = (remoteTask: RemoteTask): Record<string, unknown> => ({ [key]: remoteTask });

/** Reads the remote task from the metadata of the agent's last question. */
export function remoteTaskOf(messages: readonly Message[]): RemoteTask | undefined {
  const last = messages.findLast(({ role, metadata }) => role === 'ROLE_AGENT' && metadata?.[key]);
  return last?.metadata?.[key] as RemoteTask | undefined;
}

/** The words that select each sample agent. Other agents are selected by name only. */
const words: Readonly<Record<string, RegExp>> = {
  currency: /exchange|convert|currency|how much is|等于多少/i,
  'boat-designer': /boat|ship|sail|船/i,
  'trip-planner': /trip|travel|flight|hotel|snowmobile|\bspa\b/i,
  expense: /expense|reimburse|receipt/i,
};

/** Chooses the agent that the user names, or else the first one whose words the messages contain. */
export function chooseAgent(messages: readonly Message[], names: readonly string[]): string | undefined {
  const said = messages
    .filter(({ role }) => role === 'ROLE_USER')
    .flatMap(({ parts }) => parts.flatMap((part) => ('text' in part ? part.text : [])))
    .join('\n');
  return (
    names.find((name) => said.toLowerCase().includes(name)) ?? names.find((name) => words[name]?.test(said))
  );
}
