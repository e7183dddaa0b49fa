import type { ListedState, TaskFilter } from '../../api/task.ts';

/** What stands in the address of a list: `q`, `state`, `age`, `context`, `caller`, `code`, `scope`. */
export function filterOf(query: URLSearchParams): TaskFilter {
  const state = query.get('state');
  const age = Number(query.get('age') ?? 0);
  const context = query.get('context');
  const caller = query.get('caller');
  const code = query.get('code');
  return {
    scope: Number(query.get('scope') ?? 0),
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

/** Reads what a person typed: `label:vip code:TIMEOUT skill:convert`, and any other words as one text. */
export function readSearch(typed: string): Pick<TaskFilter, 'text' | 'labels' | 'code' | 'skill'> {
  const labels: string[] = [];
  const found: { code?: string; skill?: string } = {};
  const text = typed
    .replace(/\b(label|code|skill):("([^"]*)"|\S+)/g, (_, name: string, word: string, quoted?: string) => {
      const value = quoted ?? word;
      if (name === 'label') labels.push(value);
      else found[name as 'code' | 'skill'] = value;
      return '';
    })
    .replace(/\s+/g, ' ')
    .trim();
  return { ...found, ...(labels.length > 0 && { labels }), ...(text !== '' && { text }) };
}
