import type { RedisDriver } from '../src/index.ts';

/** A driver of which some methods are others. */
export const changedDriver = (driver: RedisDriver, changes: Partial<RedisDriver>): RedisDriver =>
  new Proxy(driver, {
    get(_, name) {
      const member: unknown = Reflect.get(changes, name) ?? Reflect.get(driver, name);
      return typeof member === 'function' ? member.bind(driver) : member;
    },
  });
