/** Sets by key. A set that became empty is gone. */
export class Groups<Key, Member> {
  readonly #sets = new Map<Key, Set<Member>>();

  /** How many keys have members. */
  get size(): number {
    return this.#sets.size;
  }

  get(key: Key): ReadonlySet<Member> {
    return this.#sets.get(key) ?? new Set();
  }

  add(key: Key, member: Member): void {
    const set = this.#sets.get(key);
    if (set) set.add(member);
    else this.#sets.set(key, new Set([member]));
  }

  delete(key: Key, member: Member): void {
    const set = this.#sets.get(key);
    set?.delete(member);
    if (set?.size === 0) this.#sets.delete(key);
  }

  clear(): void {
    this.#sets.clear();
  }
}
