import type { Scope, TaskStore } from '@batonjs/store';
import type { TaskRow } from '../api/task.ts';
import { titleOf } from './title.ts';

/** What the first fact of a task says of it. It never changes. */
export type Brief = Pick<TaskRow, 'title' | 'startedAt'>;

/** How many tasks are remembered: those of the pages that are looked at. */
const most = 20_000;
/** How many logs are read at once. */
const atOnce = 32;

/** Reads what tasks are about: the first fact of each, once. */
export class Briefs {
  readonly #store: Pick<TaskStore, 'readFacts'>;
  readonly #known = new Map<string, Brief>();

  constructor(store: Pick<TaskStore, 'readFacts'>) {
    this.#store = store;
  }

  /** The rows with what their tasks are about. One whose log cannot be read stays as it is. */
  async addTo(scope: Scope, rows: readonly TaskRow[]): Promise<TaskRow[]> {
    const briefs: (Brief | undefined)[] = [];
    for (let from = 0; from < rows.length; from += atOnce) {
      const part = rows.slice(from, from + atOnce);
      const isKnown = part.every(({ id }) => this.#known.has(keyOf(scope, id)));
      // Nothing is awaited for rows that are known: the list is read again twice a second.
      if (isKnown) briefs.push(...part.map(({ id }) => this.#known.get(keyOf(scope, id))));
      else briefs.push(...(await Promise.all(part.map(({ id }) => this.#read(scope, id)))));
    }
    return rows.map((row, index) => ({ ...briefs[index], ...row }));
  }

  async #read(scope: Scope, id: string): Promise<Brief | undefined> {
    const key = keyOf(scope, id);
    const known = this.#known.get(key);
    if (known) return known;
    const brief = await this.#brief(scope, id).catch(() => undefined);
    if (!brief) return undefined;
    this.#known.set(key, brief);
    const [oldest] = this.#known.keys();
    if (this.#known.size > most && oldest !== undefined) this.#known.delete(oldest);
    return brief;
  }

  async #brief(scope: Scope, id: string): Promise<Brief | undefined> {
    const [first] = await this.#store.readFacts(scope, id, 0, 1);
    if (!first) return undefined;
    const { fact } = first;
    const title = fact.type === 'message-received' ? titleOf(fact.message) : undefined;
    return { startedAt: fact.at, ...(title !== undefined && { title }) };
  }
}

const keyOf = (scope: Scope, id: string): string => `${scope} ${id}`;
