import { StoreError, type TaskStore } from '@batonjs/store';

/** A store with some methods replaced. Each replacement is given the original. */
export function change<Store extends TaskStore>(
  store: Store,
  changes: { [Name in keyof Store]?: (original: Store[Name]) => Store[Name] },
): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      const original = member.bind(target);
      return Object.hasOwn(changes, name) ? changes[name as keyof Store]?.(original) : original;
    },
  });
}

/** The error of a store that does not answer. */
export const unavailable = (): StoreError => new StoreError('UNAVAILABLE', 'It cannot be reached');

/** A store that can be made unreachable, and reachable again. `refused`: how many calls failed meanwhile. */
export function switchable(store: TaskStore): {
  readonly store: TaskStore;
  isDown: boolean;
  readonly refused: number;
} {
  const state = { store, isDown: false, refused: 0 };
  state.store = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...args: unknown[]) => {
        if (state.isDown) {
          state.refused++;
          throw unavailable();
        }
        return member.apply(target, args);
      };
    },
  });
  return state;
}
