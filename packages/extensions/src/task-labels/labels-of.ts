import type { Task } from '@batonjs/protocol';
import { LABELS } from '@batonjs/protocol/headers';

/** The labels of a task; empty if it shows none: clients activate the extension to see them. */
export function labelsOf({ metadata }: Pick<Task, 'metadata'>): string[] {
  const labels = metadata?.[LABELS];
  return Array.isArray(labels) ? labels.filter((label) => typeof label === 'string') : [];
}
