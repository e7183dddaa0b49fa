/** The same object with some of its methods replaced, whatever kind of object it is. */
export function override<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get(_, key) {
      if (Object.hasOwn(methods, key)) return Reflect.get(methods, key);
      const member: unknown = Reflect.get(target, key);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
