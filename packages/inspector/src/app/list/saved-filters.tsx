import { useState } from 'preact/hooks';
import { changeQuery } from '../data/route.ts';
import { Icon } from '../parts/icon.tsx';

interface Saved {
  readonly name: string;
  /** The query of the address. */
  readonly query: string;
}

const key = 'baton-inspector-filters';
/** What a filter consists of: the scope of an agent is none of it. */
const members = ['q', 'state', 'age', 'context', 'agent', 'caller', 'code'] as const;

const isSaved = (value: unknown): value is Saved =>
  typeof (value as Saved | null)?.name === 'string' && typeof (value as Saved).query === 'string';

function readSaved(): readonly Saved[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isSaved) : [];
  } catch {
    return [];
  }
}

/** The filter of the present address. */
function present(): URLSearchParams {
  const query = new URLSearchParams(location.hash.split('?')[1]);
  const set = members.map((name) => [name, query.get(name) ?? '']).filter(([, text]) => text !== '');
  return new URLSearchParams(set);
}

/** Filters that this browser keeps under a name. */
export function SavedFilters() {
  const [saved, setSaved] = useState(readSaved);
  const [name, setName] = useState<string>();
  const query = String(present());
  const keep = (filters: readonly Saved[]) => {
    localStorage.setItem(key, JSON.stringify(filters));
    setSaved(filters);
    setName(undefined);
  };
  const choose = (filter: Saved) => {
    const chosen = new URLSearchParams(filter.query);
    changeQuery(Object.fromEntries(members.map((each) => [each, chosen.get(each) ?? ''])));
  };
  return (
    <>
      {saved.map((filter) => (
        <span key={filter.name} class={`chip ${filter.query === query ? 'chip-on' : ''}`}>
          <button type="button" class="chip-text" onClick={() => choose(filter)}>
            {filter.name}
          </button>
          <button
            type="button"
            class="chip-remove"
            aria-label={`Forget the filter ${filter.name}`}
            onClick={() => keep(saved.filter((each) => each !== filter))}
          >
            <Icon name="cancel" />
          </button>
        </span>
      ))}
      {name !== undefined ? (
        <form
          class="save-filter"
          onSubmit={(event) => {
            event.preventDefault();
            const wanted = name.trim();
            if (wanted) keep([...saved.filter((each) => each.name !== wanted), { name: wanted, query }]);
          }}
        >
          <label>
            <span class="visually-hidden">Name of the filter</span>
            <input
              type="text"
              placeholder="Name of the filter"
              maxLength={40}
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </label>
          <button type="submit" class="button">
            Keep
          </button>
        </form>
      ) : (
        query !== '' &&
        !saved.some((each) => each.query === query) && (
          <button type="button" class="button button-quiet" onClick={() => setName('')}>
            Save filter
          </button>
        )
      )}
    </>
  );
}
