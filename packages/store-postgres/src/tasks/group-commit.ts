import type { Committed } from '@batonjs/store';
import { isAboutValues } from '../database/postgres-error.ts';
import type { Transactions } from '../database/transactions.ts';
import { Changes } from '../notifications/changes.ts';
import type { Wakeups } from '../notifications/wakeups.ts';
import type { Commits } from './commits.ts';
import type { PreparedCommit } from './prepared-commit.ts';

interface Write {
  readonly prepared: PreparedCommit;
  readonly resolve: (committed: Committed) => void;
  readonly reject: (error: unknown) => void;
}

export interface GroupCommitOptions {
  readonly transactions: Transactions;
  readonly commits: Commits;
  readonly wakeups: Wakeups;
  /** Called with the number of commits of each transaction. */
  readonly onGroup: ((size: number) => void) | undefined;
}

// More of them, or longer ones, would keep rows locked for too long. The facts of all are one string on the wire, and
// a string cannot have more than half a gigabyte.
const largestGroup = 256;
const mostCharacters = 4 * 1024 * 1024;

/**
 * Commits that arrive while a transaction runs share the next one. A commit that is refused fails alone; a database
 * that fails fails them all.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #waiting: Write[] = [];
  #running = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /** Resolves once the transaction is committed. */
  run(prepared: PreparedCommit): Promise<Committed> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ prepared, resolve, reject });
      if (this.#running) return;
      this.#running = true;
      // After all callbacks of this round of the event loop, so that their commits form one group.
      setImmediate(() => void this.#flush());
    });
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) await this.#transact(this.#next());
    this.#running = false;
  }

  /** The oldest commits that fit into one transaction, in order. */
  #next(): Write[] {
    let count = 0;
    let size = 0;
    for (const { prepared } of this.#waiting) {
      size += prepared.size;
      if (count === largestGroup || (count > 0 && size > mostCharacters)) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #transact(group: readonly Write[]): Promise<void> {
    const { transactions, commits, wakeups, onGroup } = this.#options;
    let changes = new Changes();
    try {
      const all = group.map(({ prepared }) => prepared);
      const outcomes = await transactions.run((session, now, opened) => {
        changes = new Changes();
        return commits.write(session, now, opened, all, changes);
      }, commits.opening(all));
      for (const [n, { resolve, reject }] of group.entries()) {
        const outcome = outcomes[n]!;
        if ('refusal' in outcome) reject(outcome.refusal);
        else resolve(outcome.committed);
      }
    } catch (error) {
      // One commit has what the database does not take: each is tried again on its own, so that it fails alone.
      if (group.length > 1 && isAboutValues((error as Error).cause)) {
        for (const write of group) await this.#transact([write]);
      } else for (const { reject } of group) reject(error);
      return;
    }
    wakeups.announce(changes);
    onGroup?.(group.length);
  }
}
