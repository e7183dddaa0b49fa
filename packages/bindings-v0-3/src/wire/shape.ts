export { compact } from '@batonjs/protocol/json';

/** A JSON object before its members are checked. */
export type Loose = Readonly<Record<string, unknown>>;

/** The first of these that is a text with letters, or else the first that is a text. */
export const text = (...candidates: unknown[]): string | undefined => {
  const texts = candidates.filter((candidate) => typeof candidate === 'string');
  return texts.find((candidate) => candidate !== '') ?? texts[0];
};

/** The path of a member. */
export const at = (path: string, member: string | number): string =>
  typeof member === 'number' ? `${path}[${member}]` : path === '' ? member : `${path}.${member}`;

const isSpelled = (name: string, member: unknown) =>
  member !== null && member !== undefined && !name.includes('_');

/**
 * The object without members that are null or undefined, by their names in JSON: `task_id` is `taskId`. For `parts`, null
 * stands for an empty list.
 */
export function present(value: Loose): Loose {
  if (Object.entries(value).every(([name, member]) => isSpelled(name, member))) return value;
  const members: Record<string, unknown> = {};
  for (const [given, member] of Object.entries(value)) {
    if (member === null && given === 'parts') members.parts = [];
    if (member === null || member === undefined) continue;
    const name = given.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    // Of two spellings of a member, that of JSON counts.
    if (name === given || (value[name] ?? undefined) === undefined) members[name] = member;
  }
  return members;
}
