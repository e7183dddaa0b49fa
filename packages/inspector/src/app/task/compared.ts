import { placeHref } from '../data/route.ts';

/** A task that is compared. */
export interface Compared {
  readonly agent: string;
  readonly task: string;
}

const key = 'baton-inspector-compared';
const textOf = ({ agent, task }: Compared): string =>
  `${encodeURIComponent(agent)}/${encodeURIComponent(task)}`;

/** Reads what stands in an address. */
export function readCompared(text: string | null): Compared | undefined {
  const [agent, task] = (text ?? '').split('/').map(decodeURIComponent);
  return agent && task ? { agent, task } : undefined;
}

/** Keeps a task in this browser, to compare the next one with it. */
export const keepCompared = (compared: Compared): void => localStorage.setItem(key, textOf(compared));

/** The address that compares a task with the kept one; undefined without another one. */
export function compareHref(compared: Compared): string | undefined {
  const kept = readCompared(localStorage.getItem(key));
  if (!kept || textOf(kept) === textOf(compared)) return undefined;
  return placeHref('compare', { a: textOf(kept), b: textOf(compared) });
}
