/** An item that waits for its group. */
export interface Grouped<Item, Result = unknown> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  readonly isSettled: () => boolean;
}

type Members<Item, Result> = readonly Grouped<Item, Result>[];

export interface GroupOptions<Item, Result = unknown> {
  /** The most items of a group. */
  readonly most: number;
  /** How many groups are under way at most. Default 1. */
  readonly atOnce?: number;
  /** Whether an item may join a group, which is not empty. Those that may not wait for a later one. Default: all may. */
  readonly fits?: (item: Item, group: Members<Item, Result>) => boolean;
  /**
   * Settles the items of a group, and returns those that come first in the next one. Called again and again from the event
   * loop, and never in the round in which an item came. If it fails, those that it has not settled are rejected.
   */
  readonly run: (
    group: Members<Item, Result>,
  ) => Members<Item, Result> | undefined | Promise<Members<Item, Result> | undefined>;
  /** Whether one item alone may have made a group fail: each is then run on its own. Default: never. */
  readonly isOfOne?: (error: unknown) => boolean;
}

/** Items that come in one round of the event loop, or while others are under way, are run together. */
export class Group<Item, Result = unknown> {
  readonly #options: GroupOptions<Item, Result>;
  #waiting: Grouped<Item, Result>[] = [];
  #underWay = 0;
  #isDue = false;

  constructor(options: GroupOptions<Item, Result>) {
    this.#options = options;
  }

  /** What becomes of an item. */
  run(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      let isSettled = false;
      this.#waiting.push({
        item,
        resolve: (result) => {
          isSettled = true;
          resolve(result);
        },
        reject: (error) => {
          isSettled = true;
          reject(error);
        },
        isSettled: () => isSettled,
      });
      this.#runSoon();
    });
  }

  get #hasNext(): boolean {
    return this.#waiting.length > 0 && this.#underWay < (this.#options.atOnce ?? 1);
  }

  #runSoon(): void {
    if (this.#isDue || !this.#hasNext) return;
    this.#isDue = true;
    // After all callbacks of this round of the event loop, so that their items form one group.
    setImmediate(() => {
      this.#isDue = false;
      // One that is over at once took its share of this round: the next one waits for another.
      for (let goesOn = true; goesOn && this.#hasNext; ) goesOn = this.#run(this.#next()) !== undefined;
    });
  }

  /** The oldest items that fit together, in order. */
  #next(): Grouped<Item, Result>[] {
    const { most, fits } = this.#options;
    if (!fits) return this.#waiting.splice(0, most);
    const group: Grouped<Item, Result>[] = [];
    this.#waiting = this.#waiting.filter((one) => {
      const joins = group.length === 0 || (group.length < most && fits(one.item, group));
      if (joins) group.push(one);
      return !joins;
    });
    return group;
  }

  /** Resolves once the group is over; undefined if it is already, as in a database of this process. */
  #run(group: Members<Item, Result>): Promise<void> | undefined {
    this.#underWay++;
    let left: ReturnType<GroupOptions<Item, Result>['run']>;
    try {
      left = this.#options.run(group);
    } catch (error) {
      left = Promise.reject(error);
    }
    if (left !== undefined) return this.#goOn(group, left);
    this.#underWay--;
    this.#runSoon();
    return undefined;
  }

  async #goOn(
    group: Members<Item, Result>,
    left: ReturnType<GroupOptions<Item, Result>['run']>,
  ): Promise<void> {
    try {
      this.#waiting.unshift(...((await left) ?? []));
    } catch (error) {
      const unsettled = group.filter(({ isSettled }) => !isSettled());
      if (unsettled.length > 1 && this.#options.isOfOne?.(error))
        for (const one of unsettled) await this.#run([one]);
      else for (const one of unsettled) one.reject(error);
    } finally {
      this.#underWay--;
      this.#runSoon();
    }
  }
}
