import {
  type Commit,
  type Committed,
  type Lease,
  type ListedTask,
  type StoredFact,
  StoreError,
  type TaskPage,
  type TaskQuery,
  type TaskStore,
} from '@batonjs/store';
import type { TaskRow } from '@batonjs/store/adapter';
import { admit, claimed, factsInOrder, granted } from '@batonjs/store/rules';
import { present } from '../samples/log.ts';

export interface ModelLog {
  readonly scope: string;
  readonly taskId: string;
  row?: TaskRow;
  facts: readonly StoredFact[];
  snapshot?: Commit['snapshot'];
  readonly once: Map<string, number>;
}

/** A reference store: the simplest one that follows the port, without any index. */
export class Model {
  readonly logs: ModelLog[] = [];

  log(scope: string, taskId: string): ModelLog {
    const known = this.logs.find((log) => log.scope === scope && log.taskId === taskId);
    if (known) return known;
    const log: ModelLog = { scope, taskId, facts: [], once: new Map() };
    this.logs.push(log);
    return log;
  }

  /** The result of the commit, or the code of its refusal. */
  commit(commit: Commit, now: number): Committed | StoreError['code'] {
    const log = this.log(commit.scope, commit.taskId);
    const counted = commit.once === undefined ? undefined : log.once.get(commit.once);
    if (counted !== undefined) return { version: counted, repeated: true };
    const after = attempt(() =>
      admit(log.row, commit, { now, orderNow: now, leaseNow: now }, { webhooks: [], lastAt: undefined }),
    );
    if (typeof after === 'string') return after;
    const { commitId } = commit;
    const inOrder = factsInOrder(commit, log.facts.at(-1)?.fact.at);
    const added = inOrder.map((fact, n) => ({ version: log.facts.length + n + 1, commitId, fact }));
    if (commit.once !== undefined) log.once.set(commit.once, log.facts.length + 1);
    log.row = after;
    log.facts = [...log.facts, ...added];
    log.snapshot = commit.snapshot ?? log.snapshot;
    return { version: after.version, lease: granted(after, commit) };
  }

  /** Every lease that the claim may be given. */
  offers(request: Parameters<TaskStore['claim']>[0], now: number): Lease[] {
    return this.logs.flatMap(({ scope, taskId, row }) => {
      const { holder, queue, task } = request;
      if (!row || (task && (task.taskId !== taskId || task.scope !== scope))) return [];
      const claim = claimed(row, request, { now, orderNow: now, leaseNow: now });
      return claim ? [{ scope, taskId, queue, holder, fence: claim.after.fence, cause: claim.cause }] : [];
    });
  }

  /** Does what the claim did that was given this lease. */
  claim({ scope, taskId }: Lease, request: Parameters<TaskStore['claim']>[0], now: number): void {
    const log = this.log(scope, taskId);
    const claim = log.row && claimed(log.row, request, { now, orderNow: now, leaseNow: now });
    log.row = present(claim, 'such lease').after;
  }

  /** Whether the lease is still held; if so it now ends then. */
  renew({ scope, taskId, holder, fence }: Lease, leaseUntil: number): boolean {
    const log = this.log(scope, taskId);
    if (log.row?.holder !== holder || log.row.fence !== fence) return false;
    log.row = { ...log.row, leaseUntil };
    return true;
  }

  waiting(queue: string): number {
    return this.logs.filter(({ row }) => row?.queue === queue && row.wanted && row.holder === undefined)
      .length;
  }

  list(scope: string, query: Omit<TaskQuery, 'text' | 'bytes' | 'totalAtMost'>): TaskPage {
    const {
      contextId,
      state,
      statusSince = '',
      labels = [],
      skill,
      code,
      answered,
      limit,
      after,
      ...others
    } = query;
    others satisfies Record<string, never>;
    const matching = this.logs
      .filter((log) => log.scope === scope)
      .flatMap(({ taskId, row, facts }): ListedTask[] => {
        const head = row?.head;
        return head ? [{ taskId, head, fact: facts[head.statusVersion - 1] }] : [];
      })
      .filter(({ head }) => answered || head.state !== undefined)
      .filter(({ head }) => contextId === undefined || head.contextId === contextId)
      .filter(({ head }) => labels.every((label) => head.labels?.includes(label)))
      .filter(({ head }) => skill === undefined || head.skills?.includes(skill))
      .filter(({ head }) => code === undefined || head.code === code)
      .filter(({ head }) => state === undefined || head.state === state)
      .filter(({ head }) => head.statusAt >= statusSince)
      .sort((a, b) => (isBefore(a, b) ? -1 : 1));
    const last = after && { taskId: after.taskId, head: { statusAt: after.statusAt } };
    const rest = matching.filter((task) => !last || isBefore(last, task));
    return { tasks: rest.slice(0, limit), total: matching.length };
  }
}

type Placed = { readonly taskId: string; readonly head: { readonly statusAt: string } };

const isBefore = (a: Placed, b: Placed): boolean =>
  a.head.statusAt === b.head.statusAt ? a.taskId > b.taskId : a.head.statusAt > b.head.statusAt;

/** The result of `act`, or the code of the store error that it throws. */
function attempt<T>(act: () => T): T | StoreError['code'] {
  try {
    return act();
  } catch (error) {
    if (StoreError.is(error)) return error.code;
    throw error;
  }
}
