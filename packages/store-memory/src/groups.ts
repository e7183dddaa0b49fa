/** Emptied when it is removed: an outgrown hash table keeps what was in it until the next full collection. */
interface Group<Member> {
  members: readonly [] | readonly [Member] | Set<Member>;
}

/** Members by key; a key without members is gone. Most keys have one member, so a set is made only for more. */
export class Groups<Key, Member> {
  readonly #groups = new Map<Key, Group<Member>>();

  /** How many keys have members. */
  get size(): number {
    return this.#groups.size;
  }

  get(key: Key): readonly Member[] | ReadonlySet<Member> {
    return this.#groups.get(key)?.members ?? [];
  }

  add(key: Key, member: Member): void {
    const group = this.#groups.get(key);
    if (!group) this.#groups.set(key, { members: [member] });
    else if (group.members instanceof Set) group.members.add(member);
    else group.members = new Set([...group.members, member]);
  }

  delete(key: Key, member: Member): void {
    const group = this.#groups.get(key);
    if (!group) return;
    if (group.members instanceof Set) group.members.delete(member);
    else if (group.members[0] === member) group.members = [];
    const { members } = group;
    if ((members instanceof Set ? members.size : members.length) === 0) this.#groups.delete(key);
  }
}
