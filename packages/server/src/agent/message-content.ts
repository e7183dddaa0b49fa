import type { Message } from '@batonjs/protocol';

/** The text parts of a message, joined by newlines. */
export const linesOf = ({ parts }: Message): string =>
  parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n');

/** The members of all data parts that clients sent; later ones win. */
export function valuesOf(messages: readonly Message[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { role, parts } of messages) {
    if (role !== 'ROLE_USER') continue;
    for (const part of parts) {
      if (
        !('data' in part) ||
        typeof part.data !== 'object' ||
        part.data === null ||
        Array.isArray(part.data)
      )
        continue;
      for (const [name, value] of Object.entries(part.data)) if (name !== '__proto__') values[name] = value;
    }
  }
  return values;
}
