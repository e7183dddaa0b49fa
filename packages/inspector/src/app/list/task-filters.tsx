import { useEffect, useRef, useState } from 'preact/hooks';
import { type ListQuery, type StateCounts, states, type TaskRow, type Unserved } from '../../api/task.ts';
import { changeQuery } from '../data/route.ts';
import { Icon } from '../parts/bits.tsx';
import { counted, stateClass, stateName } from '../parts/words.ts';
import { lastWord, offersFor } from './search.ts';

/** Words are searched for when no letter was typed for so long, in milliseconds: a search may read many pages. */
const searchAfterMs = 200;

interface StateTabsProps {
  readonly filter: ListQuery;
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
export const isHidingScheduled = ({ q = '' }: ListQuery): boolean => q.trim() === unscheduled;

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

/** The text of a box, which stands in the address a moment after it was typed. */
function useTyped(typed: string) {
  const [text, setText] = useState(typed);
  // What was sent comes back in the address later, when another letter may have been typed.
  const sent = useRef(typed);
  useEffect(() => {
    if (typed !== sent.current) setText(typed);
    sent.current = typed;
  }, [typed]);
  useEffect(() => {
    if (text.trim() === typed) return;
    const timer = setTimeout(() => {
      sent.current = text.trim();
      changeQuery({ q: sent.current });
    }, searchAfterMs);
    return () => clearTimeout(timer);
  }, [text, typed]);
  return [text, setText] as const;
}

interface SearchBoxProps {
  readonly typed: string;
  /** What else is searched than tasks. */
  readonly what?: string;
  /** Of tasks, whose labels, codes, skills and callers are offered. */
  readonly rows?: readonly Partial<TaskRow>[];
}

/** Searches by words; of tasks also by filters, which it offers while they are typed. */
export function SearchBox({ typed, what, rows = [] }: SearchBoxProps) {
  const [text, setText] = useTyped(typed);
  /** -1: none of the offers is chosen; undefined: there are none. */
  const [chosen, choose] = useState<number>();
  // A word that is half typed finds nothing: what may be meant is in the rows from before.
  const [before, setBefore] = useState(rows);
  const offers = chosen === undefined || what ? [] : offersFor(text, before);
  const offered = offers[chosen ?? -1];
  const change = (text: string) => {
    setText(text);
    choose(-1);
  };
  const take = (word: string) => change(text.replace(lastWord, () => word));
  // Not a click: the box would lose the focus first.
  const pick = (event: MouseEvent) => {
    event.preventDefault();
    const { target, currentTarget } = event;
    if (target instanceof HTMLElement && target !== currentTarget) take(target.textContent);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (offers.length === 0) return;
    if (step) choose((Math.max(chosen ?? 0, step > 0 ? -1 : 0) + step + offers.length) % offers.length);
    else if (event.key === 'Escape') choose(undefined);
    else if (offered !== undefined && (event.key === 'Enter' || event.key === 'Tab')) take(offered);
    else return;
    event.preventDefault();
  };
  return (
    <div class="search">
      <Icon name="search" />
      <label class="visually-hidden" for="search">
        Search in {what ?? 'titles, answers and ids; filters are offered as you type'}
      </label>
      <input
        id="search"
        type="text"
        role="combobox"
        autocomplete="off"
        aria-autocomplete="list"
        aria-controls="offers"
        aria-expanded={offers.length > 0}
        aria-activedescendant={offered && `offer-${chosen}`}
        placeholder={what ? 'Search' : 'Search, or label:… -label:… code:… took:>10s'}
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onFocus={() => setBefore(rows)}
        onBlur={() => choose(undefined)}
      />
      {offers.length > 0 && (
        <div id="offers" class="offers" role="listbox" aria-label="Filters" tabIndex={-1} onMouseDown={pick}>
          {offers.map((word, index) => (
            <div
              key={word}
              id={`offer-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
            >
              {word}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
