import type { TaskStore } from '@batonjs/store';
import type { StoredTask, Transfer } from '@batonjs/store/rules';
import { usage } from '../../errors/cli-error.ts';

export type KeyedFact = Awaited<ReturnType<Transfer['facts']>>[number];

/** How many rows a page has, about. */
export const pageSize = 500;

/** How many facts, and about how many characters of them, are read and written together. */
const mostFacts = 200;
const mostCharacters = 1_000_000;

/** What moves a store. Throws for one that cannot be moved. */
export function transferOf({ transfer }: TaskStore): Transfer {
  if (!transfer) throw usage('This store cannot be moved into another one');
  return transfer;
}

/** The pages of all tasks. `from`: where they begin. */
export async function* pagesOf({ tasks }: Transfer, from?: string) {
  for (let at = from; ; ) {
    const page = await tasks(at, pageSize);
    yield page;
    at = page.next;
    if (at === undefined) return;
  }
}

/** All records, in the order of their names. */
export async function* recordsOf({ records }: Transfer) {
  for (let after: string | undefined; ; ) {
    const page = await records(after, pageSize);
    yield* page;
    after = page.at(-1)?.name;
    if (page.length < pageSize) return;
  }
}

/** The facts of a task after a position, a few at a time. */
export async function* factsOf(
  transfer: Transfer,
  { row }: StoredTask,
  after = 0,
): AsyncGenerator<KeyedFact[]> {
  for (let at = after; at < row.version; ) {
    const facts = await transfer.facts(row, at, Math.min(mostFacts, row.version - at));
    // Deleted meanwhile.
    if (facts.length === 0) return;
    let some: KeyedFact[] = [];
    let characters = 0;
    for (const fact of facts) {
      some.push(fact);
      characters += JSON.stringify(fact.fact).length;
      if (characters < mostCharacters) continue;
      yield some;
      [some, characters] = [[], 0];
    }
    if (some.length > 0) yield some;
    at += facts.length;
  }
}
