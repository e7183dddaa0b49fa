import { StoreError, type TaskStore } from '@batonjs/store';

/** Replaces methods of a store; each is given the method it replaces. */
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

export const unavailable = (): StoreError => new StoreError('UNAVAILABLE', 'It cannot be reached');

/** A store that can be made unreachable, and reachable again. */
export function switchable(store: TaskStore): { readonly store: TaskStore; isDown: boolean } {
  const state = { store, isDown: false };
  state.store = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...args: unknown[]) => {
        if (state.isDown) throw unavailable();
        return member.apply(target, args);
      };
    },
  });
  return state;
}
