import type { ListedState, TaskFilter } from '../../api/task.ts';

/** What stands in the address of a list: `q`, `state`, `age`, `context`, `caller`, `code`, `scope`. */
export function filterOf(query: URLSearchParams): TaskFilter {
  const state = query.get('state');
  const age = Number(query.get('age') ?? 0);
  const context = query.get('context');
  const caller = query.get('caller');
  const code = query.get('code');
  return {
    ...(query.has('scope') && { scope: Number(query.get('scope')) }),
    ...readSearch(query.get('q') ?? ''),
    ...(state === 'unserved' && { unserved: true }),
    ...(state &&
      state !== 'unserved' && {
        state: `TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}` as ListedState,
      }),
    ...(age > 0 && { maxAgeMs: age }),
    ...(context && { contextId: context }),
    ...(caller && { caller }),
    ...(code && { code }),
  };
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Reads what a person typed: `label:vip -label:schedule:* code:TIMEOUT skill:convert took:>10s`, and other words as one text. */
export function readSearch(typed: string): TaskFilter {
  const labels: string[] = [];
  const notLabels: string[] = [];
  const found: { code?: string; skill?: string; took?: number } = {};
  const text = typed
    .replace(
      /(?<!\S)(-?label|code|skill):("([^"]*)"|\S+)/g,
      (_, name: string, word: string, value: string = word) => {
        if (name.endsWith('label')) (name === 'label' ? labels : notLabels).push(value);
        else found[name as 'code' | 'skill'] = value;
        return '';
      },
    )
    .replace(/(?<!\S)took:([<>])(\d+(?:\.\d+)?)(ms|s|m|h)(?!\S)/g, (_, sign, number, unit: string) => {
      found.took = Number(number) * units[unit]! * (sign === '<' ? -1 : 1);
      return '';
    })
    .replace(/\s+/g, ' ')
    .trim();
  return {
    ...found,
    ...(labels.length > 0 && { labels }),
    ...(notLabels.length > 0 && { notLabels }),
    ...(text !== '' && { text }),
  };
}
