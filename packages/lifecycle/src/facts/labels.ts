import type { TaskStatus } from '@batonjs/protocol';

/** How many labels a task has at most. */
const mostLabels = 16;
/** How many characters a label has at most. */
const longestLabel = 64;

/**
 * Why a task cannot have these labels, with the one that is wrong; undefined if it can: at most 16 texts of 1 to 64
 * characters, of well-formed Unicode without control characters.
 */
export function labelProblem(labels: unknown): string | undefined {
  if (!Array.isArray(labels)) return 'Labels are an array of texts';
  if (labels.length > mostLabels) {
    const first = JSON.stringify(labels[mostLabels]);
    return `A task has at most ${mostLabels} labels, and ${short(first)} is one more`;
  }
  const wrong = labels.find((label) => !isLabel(label));
  if (wrong === undefined && !labels.includes(undefined)) return undefined;
  return `The label ${short(JSON.stringify(wrong))} is not a text of 1 to ${longestLabel} characters without control characters`;
}

/** Whether a task is found by this word: short enough for an index, and text that every database keeps. */
export const isLabel = (label: unknown): label is string =>
  typeof label === 'string' &&
  label !== '' &&
  label.length <= longestLabel &&
  label.isWellFormed() &&
  !/\p{Cc}/u.test(label);

const short = (text: string | undefined): string =>
  text === undefined || text.length <= longestLabel ? String(text) : `${text.slice(0, longestLabel)}…`;

/** The code with which a task failed, as `failed` writes it; undefined for other states, and without one. */
export function failureCodeOf({ state, message }: TaskStatus): string | undefined {
  if (state !== 'TASK_STATE_FAILED') return undefined;
  for (const part of message?.parts ?? []) {
    const { code } = Object('data' in part ? part.data : undefined) as { readonly code?: unknown };
    if (isLabel(code)) return code;
  }
  return undefined;
}

/** The labels of a task from now on, each once. */
export const eachOnce = (labels: readonly string[]): readonly string[] => [...new Set(labels)];

/** Whether a task has exactly these labels, in this order. */
export const hasLabels = (known: readonly string[] = [], labels: readonly string[] = []): boolean =>
  known.length === labels.length && labels.every((label, n) => label === known[n]);
