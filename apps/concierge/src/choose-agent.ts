import type { Message } from '@batonjs/server';

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
