import { useEffect, useState } from 'preact/hooks';
import { type StateCounts, states, type TaskFilter, type Unserved } from '../../api/task.ts';
import { changeQuery } from '../data/route.ts';
import { Icon } from '../parts/bits.tsx';
import { counted, stateClass, stateName } from '../parts/words.ts';

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
    {count !== undefined && <span class="count">{counted(count)}</span>}
  </button>
);

const total = (counts: StateCounts): number | undefined => {
  const known = Object.values(counts).filter((count) => count !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0);
};

const unscheduled = '-label:schedule:*';

/** Whether nothing else keeps a task out that was looked at. */
export const isHidingScheduled = ({ notLabels, text, took }: TaskFilter): boolean =>
  `-label:${notLabels}` === unscheduled && !text && !took;

/** Leaves out the tasks that schedules started. */
export const HideScheduled = ({ typed }: { readonly typed: string }) => (
  <label class="fold">
    <input
      type="checkbox"
      checked={typed.includes(unscheduled)}
      onChange={({ currentTarget: { checked } }) =>
        changeQuery({ q: `${typed.replace(unscheduled, '')}${checked ? ` ${unscheduled}` : ''}`.trim() })
      }
    />
    Hide scheduled
  </label>
);

interface SearchBoxProps {
  readonly typed: string;
  /** Where it searches. Default: in tasks, also by what {@link readSearch} knows. */
  readonly what?: string;
}

/** Searches by words. */
export function SearchBox({ typed, what }: SearchBoxProps) {
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
        Search in {what ?? 'titles, answers and ids; label:, -label:, code:, skill: and took: find those'}
      </span>
      <input
        id="search"
        type="search"
        placeholder={what ? 'Search' : 'Search, or label:… -label:… code:… skill:… took:>10s'}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </label>
  );
}
