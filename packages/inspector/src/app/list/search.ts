import { readSearch, searchExample, searchWord } from '@batonjs/operator/search';
import type { ListedState, ListQuery, TaskRow } from '../../api/task.ts';

/**
 * What stands in the address of a list: `q`, `state`, `age`, `context`, `caller`, `code`, `scope`. A caller or a code in the
 * box counts before one that was chosen beside it.
 */
export function filterOf(query: URLSearchParams): ListQuery {
  const [state, contextId, age, scope] = ['state', 'context', 'age', 'scope'].map((name) => query.get(name));
  const typed = query.get('q') ?? '';
  const read = readSearch(typed);
  const chosen = (['caller', 'code'] as const).map((name) =>
    query.get(name) && !read[name] ? searchWord(`${name}:`, query.get(name)!) : '',
  );
  const q = [typed, ...chosen].filter(Boolean).join(' ');
  const isUnserved = state === 'unserved';
  return {
    scope: scope ? Number(scope) : undefined,
    q: q || undefined,
    unserved: isUnserved || undefined,
    state:
      state && !isUnserved
        ? (`TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}` as ListedState)
        : undefined,
    maxAgeMs: Number(age) || undefined,
    contextId: contextId || undefined,
  };
}

/** What rows have of what may follow the name of a filter. */
const known: Readonly<Record<string, 'labels' | 'code' | 'skills' | 'caller'>> = {
  label: 'labels',
  code: 'code',
  skill: 'skills',
  caller: 'caller',
};
const mostOffered = 8;
/** The word that is being typed, perhaps in quotes. */
export const lastWord = /(?<!\S)(-?[a-z]+:)?("[^"]*|[^\s"]*)$/;

/** The filters that may be meant by the last word of a search. */
export function offersFor(text: string, rows: readonly Partial<TaskRow>[]): readonly string[] {
  const [last = '', name = ''] = lastWord.exec(text) ?? [];
  const member = known[name.replace(/^-|:$/g, '')];
  const values = member ? rows.flatMap((row) => row[member] ?? []) : [];
  const words = name ? values.map((value) => searchWord(name, value)) : searchExample.match(/-?\w+:(?=\S)/g)!;
  const plain = (word: string) => word.replaceAll('"', '');
  const fits = (word: string) => last !== '' && plain(word).startsWith(plain(last)) && word !== last;
  return [...new Set(words)].filter(fits).slice(0, mostOffered);
}
