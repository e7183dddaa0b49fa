import type { Fact } from './facts.ts';

/** What a task is found by in searches by text: the texts of the message that began it. */
export function textOfFirst([first]: readonly Fact[]): string | undefined {
  if (first?.type !== 'message-received') return undefined;
  const { parts } = first.message;
  const [part] = parts;
  if (part && parts.length === 1) return 'text' in part ? part.text : undefined;
  const texts = parts.flatMap((each) => ('text' in each ? [each.text] : []));
  return texts.length > 0 ? texts.join('\n') : undefined;
}
