import { useEffect, useState } from 'preact/hooks';
import {
  type ListedState,
  type StateCounts,
  states,
  type TaskFilter,
  type Unserved,
} from '../../api/task.ts';
import { changeQuery } from '../data/route.ts';
import { Icon } from '../parts/bits.tsx';
import { stateClass, stateName } from '../parts/words.ts';

/** Words are searched for when no letter was typed for so long, in milliseconds: a search may read many pages. */
const searchAfterMs = 200;

interface StateTabsProps {
  readonly filter: TaskFilter;
  readonly counts: StateCounts;
  readonly unserved: ReadonlyMap<string, Unserved>;
}

/** Chooses a state, with how many tasks are in each. */
export function StateTabs({ filter, counts, unserved }: StateTabsProps) {
  const waiting = [...unserved.values()].flatMap(({ versions }) => versions.map(({ tasks }) => tasks));
  const sum = waiting.reduce((all, each) => all + each, 0);
  const { state: chosen, unserved: isUnserved = false } = filter;
  return (
    <fieldset class="state-tabs" aria-label="State">
      <StateTab
        name="All"
        count={total(counts)}
        isOn={!chosen && !isUnserved}
        onChoose={() => changeQuery({ state: '' })}
      />
      {states.map((state) => (
        <StateTab
          key={state}
          name={stateName(state)}
          count={counts[state]}
          isOn={chosen === state}
          onChoose={() => changeQuery({ state: stateClass(state) })}
        />
      ))}
      {(sum > 0 || isUnserved) && (
        <StateTab
          name="Unserved"
          count={sum}
          isOn={isUnserved}
          onChoose={() => changeQuery({ state: 'unserved' })}
        />
      )}
    </fieldset>
  );
}

interface StateTabProps {
  readonly name: string;
  readonly count: number | undefined;
  readonly isOn: boolean;
  readonly onChoose: () => void;
}

const StateTab = ({ name, count, isOn, onChoose }: StateTabProps) => (
  <button
    type="button"
    class={`state-tab ${isOn ? 'is-on' : ''} ${count ? '' : 'is-zero'}`}
    aria-pressed={isOn}
    onClick={onChoose}
  >
    {name}
    {count !== undefined && <span class="count">{count.toLocaleString('en')}</span>}
  </button>
);

const total = (counts: StateCounts): number | undefined => {
  const known = Object.values(counts).filter((count) => count !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0);
};

/** Searches by words and by `label:`, `code:` and `skill:`. */
export function SearchBox({ typed }: { readonly typed: string }) {
  const [text, setText] = useState(typed);
  useEffect(() => setText(typed), [typed]);
  useEffect(() => {
    if (text.trim() === typed) return;
    const timer = setTimeout(() => changeQuery({ q: text.trim() }), searchAfterMs);
    return () => clearTimeout(timer);
  }, [text, typed]);
  return (
    <label class="search">
      <Icon name="search" />
      <span class="visually-hidden">
        Search in titles, answers and ids; label:, code: and skill: find those
      </span>
      <input
        id="search"
        type="search"
        placeholder="Search, or label:… code:… skill:…"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </label>
  );
}

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
