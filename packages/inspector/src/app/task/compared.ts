import { placeHref } from '../data/route.ts';

export interface Compared {
  readonly agent: string;
  readonly task: string;
}

const textOf = ({ agent, task }: Compared): string =>
  `${encodeURIComponent(agent)}/${encodeURIComponent(task)}`;

/** Reads what stands in an address. */
export function readCompared(text: string | null): Compared | undefined {
  const [agent, task] = (text ?? '').split('/').map(decodeURIComponent);
  return agent && task ? { agent, task } : undefined;
}

/** The address that compares two tasks. */
export const compareHref = (one: Compared, other: Compared): string =>
  placeHref('compare', { a: textOf(one), b: textOf(other) });
