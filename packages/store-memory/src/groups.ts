/** Members by key; a key without members is gone. Most keys have one member, so a set is made only for more. */
export class Groups<Key, Member> {
  readonly #groups = new Map<Key, readonly [Member] | Set<Member>>();

  /** How many keys have members. */
  get size(): number {
    return this.#groups.size;
  }

  get(key: Key): readonly Member[] | ReadonlySet<Member> {
    return this.#groups.get(key) ?? [];
  }

  add(key: Key, member: Member): void {
    const members = this.#groups.get(key);
    if (!members) this.#groups.set(key, [member]);
    else if (members instanceof Set) members.add(member);
    else this.#groups.set(key, new Set([...members, member]));
  }

  delete(key: Key, member: Member): void {
    const members = this.#groups.get(key);
    if (members instanceof Set) members.delete(member);
    if (members instanceof Set ? members.size === 0 : members?.[0] === member) this.#groups.delete(key);
  }

  clear(): void {
    this.#groups.clear();
  }
}
