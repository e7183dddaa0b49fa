import type { Fact } from '@batonjs/lifecycle';
import {
  type Commit,
  type Committed,
  type Lease,
  type ListedTask,
  type Rate,
  type StoredFact,
  StoreError,
  type TaskName,
  type TaskPage,
  type TaskQuery,
  type TaskStore,
  type TurnSchedule,
} from '@batonjs/store';
import { deletionsOf, takenFrom } from '@batonjs/store/rules';
import { memoryStore } from '@batonjs/store-memory';
import { sabotage } from '../../../test/histories/faults.ts';
import { override } from '../src/fixture/expectations.ts';

/** `now`: the clock of the store. */
type Break = (store: TaskStore, now: () => number) => Partial<TaskStore>;

/** Stores with one fault each, and the section of the suite that has to notice. */
interface Broken {
  readonly fault: string;
  readonly section: string;
  readonly open: (store: TaskStore, now: () => number) => TaskStore;
  /** The fault is only seen through another handle. */
  readonly onlySecond?: boolean;
}

const broken = (section: string, faults: Record<string, Break>): Broken[] =>
  Object.entries(faults).map(([fault, methods]) => ({
    fault,
    section,
    open: (store, now) => override(store, methods(store, now)),
  }));

const keyOf = ({ scope, taskId }: { scope: string; taskId: string }) => `${scope}\n${taskId}`;
const onCommit =
  (change: (commit: Commit) => Partial<Commit>): Break =>
  (store) => ({ commit: (commit) => store.commit({ ...commit, ...change(commit) }) });
const onList =
  (
    change: (
      page: TaskPage,
      query: TaskQuery,
      store: TaskStore,
      scope: string,
    ) => TaskPage | Promise<TaskPage>,
  ): Break =>
  (store) => ({ list: async (scope, query) => change(await store.list(scope, query), query, store, scope) });
/** Lists with another query. */
const onQuery =
  (change: (query: TaskQuery) => Partial<TaskQuery>): Break =>
  (store) => ({ list: (scope, query) => store.list(scope, { ...query, ...change(query) }) });
type Claim = Parameters<TaskStore['claim']>[0];
/** Claims with another request. */
const onRequest =
  (change: (request: Claim) => Claim): Break =>
  (store) => ({ claim: (request) => store.claim(change(request)) });
/** Gives out other leases. */
const onLeases =
  (change: (leases: readonly Lease[], request: Claim) => readonly Lease[]): Break =>
  (store) => ({ claim: async (request) => change(await store.claim(request), request) });
/** Commits with a look at the log as it was before. */
const onLog =
  (
    commitOn: (
      commit: Commit,
      log: Awaited<ReturnType<TaskStore['load']>>,
      store: TaskStore,
    ) => Promise<Committed> | Committed,
  ): Break =>
  (store) => ({
    commit: async (commit) => commitOn(commit, await store.load(commit.scope, commit.taskId), store),
  });
/** Answers a commit that the store refuses with a code. */
const onRefusal =
  (
    code: StoreError['code'],
    answer: (commit: Commit, store: TaskStore) => Committed | undefined | Promise<Committed | undefined>,
  ): Break =>
  (store) => ({
    commit: async (commit) => {
      try {
        return await store.commit(commit);
      } catch (error) {
        const answered = StoreError.is(error, code) && (await answer(commit, store));
        if (answered) return answered;
        throw error;
      }
    },
  });
/** Answers commits otherwise. */
const onCommitted =
  (
    change: (committed: Committed, commit: Commit, store: TaskStore) => Committed | Promise<Committed>,
  ): Break =>
  (store) => ({ commit: async (commit) => change(await store.commit(commit), commit, store) });
/** The error with another code. */
const renamed = (code: StoreError['code'], other: StoreError['code']) => (error: unknown) => {
  throw StoreError.is(error, code) ? new StoreError(other, 'Renamed') : error;
};
const soon = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Keys have so many bytes at most. */
const withKeysOf = (most: number): Break =>
  onCommit(({ scope, taskId }) => {
    if (Buffer.byteLength(scope + taskId) > most) throw new StoreError('UNAVAILABLE', 'The key is too long');
    return {};
  });

/** Every method that takes ids, with the ids changed on the way in. */
const withIds =
  (change: (id: string) => string): Break =>
  (store) => ({
    commit: (commit) => store.commit({ ...commit, taskId: change(commit.taskId) }),
    load: (scope, taskId) => store.load(scope, change(taskId)),
    readFacts: (scope, taskId, ...rest) => store.readFacts(scope, change(taskId), ...rest),
  });

/** Takes a member of the lease that was given out last for that of the writer. */
const comparingAllBut =
  (name: 'fence' | 'holder'): Break =>
  (store) => {
    const leases = new Map<string, Lease>();
    const note = (given: readonly Lease[]) => {
      for (const lease of given) leases.set(keyOf(lease), lease);
      return given;
    };
    return {
      claim: async (request) => note(await store.claim(request)),
      commit: async (commit) => {
        const lease = leases.get(keyOf(commit));
        const writer = commit.writer && lease ? { ...commit.writer, [name]: lease[name] } : commit.writer;
        const committed = await store.commit({ ...commit, writer });
        if (committed.lease) note([committed.lease]);
        return committed;
      },
    };
  };

const commits = broken('commit', {
  'stores only the first fact of a commit that it refuses': onRefusal(
    'VERSION_CONFLICT',
    async (commit, store) => {
      const { scope, taskId, commitId, facts } = commit;
      const first = { scope, taskId, commitId, expectedVersion: 'open', facts: facts.slice(0, 1) } as const;
      if (await store.load(scope, taskId)) await store.commit({ ...first, once: `${Math.random()}` });
      return undefined;
    },
  ),
  'uses up the key of a commit that it refuses': (store) => {
    const used = new Set<string>();
    return {
      commit: async (commit) => {
        const key = `${keyOf(commit)}\n${commit.once}`;
        if (commit.once && used.has(key)) return { version: 1, repeated: true };
        used.add(key);
        return store.commit(commit);
      },
    };
  },
  'drops snapshots': onCommit(() => ({ snapshot: undefined })),
  'forgets the snapshot with the next commit': (store) => ({
    load: async (scope, taskId) => {
      const log = await store.load(scope, taskId);
      if (log?.snapshot?.version === log?.version) return log;
      return log && { ...log, snapshot: undefined, facts: await store.readFacts(scope, taskId, 0, 1e6) };
    },
  }),
  'keeps the first snapshot forever': (store) => {
    const first = new Set<string>();
    return {
      commit: (commit) => {
        const snapshot = first.has(keyOf(commit)) ? undefined : commit.snapshot;
        if (snapshot) first.add(keyOf(commit));
        return store.commit({ ...commit, snapshot });
      },
    };
  },
  'keeps facts by reference': (store) => {
    const given = new Map<string, Fact>();
    return {
      commit: async (commit) => {
        const committed = await store.commit(commit);
        for (const fact of commit.facts) given.set(JSON.stringify(fact), fact);
        return committed;
      },
      load: async (scope, taskId) => {
        const log = await store.load(scope, taskId);
        const facts = log?.facts.map((one) => ({
          ...one,
          fact: given.get(JSON.stringify(one.fact)) ?? one.fact,
        }));
        return log && { ...log, facts: facts! };
      },
    };
  },
  'forgets the clock in the head': onCommit(({ head }) => ({ head: head && { ...head, dueAt: undefined } })),
  'keeps a member of a head that the next one leaves out': (store) => {
    let dueAt: string | undefined;
    return {
      commit: (commit) => {
        dueAt = commit.head?.dueAt ?? dueAt;
        return store.commit({ ...commit, head: commit.head && { ...commit.head, dueAt } });
      },
    };
  },
  'checks the version and writes in two steps': onLog(async (commit, log, store) => {
    await soon();
    if (commit.expectedVersion !== (log?.version ?? 0)) return store.commit(commit);
    return sabotage(store, 'cas').commit(commit);
  }),
  'cuts off long texts': onCommit(({ facts }) => ({
    facts: facts.map((fact) => JSON.parse(JSON.stringify(fact).replaceAll(/x{9999,}|ä{9999,}/g, ''))),
  })),
  'takes whatever contradicts itself': onRefusal('INVALID_COMMIT', async ({ scope, taskId }, store) => ({
    version: (await store.load(scope, taskId))?.version ?? 0,
  })),
});

const opens = broken("an 'open' append", {
  'takes appends to closed logs': onRefusal('LOG_CLOSED', ({ expectedVersion }) =>
    expectedVersion === 'open' ? { version: 4 } : undefined,
  ),
  'treats open appends as decided on what it just read': onLog(async (commit, log, store) => {
    if (commit.expectedVersion !== 'open') return store.commit(commit);
    await soon();
    const now = await store.load(commit.scope, commit.taskId);
    if (log && log.version !== now?.version) throw new StoreError('VERSION_CONFLICT', 'moved on');
    return store.commit(commit);
  }),
  'keeps the time of an open append as its writer saw it': (store) => {
    const times = new Map<string, string>();
    const restore = (facts: readonly StoredFact[]) =>
      facts.map((stored) => {
        const at = times.get(`${stored.commitId} ${stored.version}`) ?? stored.fact.at;
        return { ...stored, fact: { ...stored.fact, at } };
      });
    return {
      commit: async (commit) => {
        const committed = await store.commit(commit);
        const first = committed.version - commit.facts.length + 1;
        if (commit.expectedVersion === 'open')
          for (const [n, fact] of commit.facts.entries())
            times.set(`${commit.commitId} ${first + n}`, fact.at);
        return committed;
      },
      readFacts: async (...args) => restore(await store.readFacts(...args)),
    };
  },
  'does not want the turn an open append wants': onCommit(({ expectedVersion, turn }) =>
    expectedVersion === 'open' ? { turn: undefined } : { turn },
  ),
});

const onces = broken('once', {
  'ignores once': onCommit(({ once }) => ({ once: once && `${once} ${Math.random()}` })),
  'forgets once when the log is closed': onLog((commit, log, store) => {
    if (log?.head.closed) throw new StoreError('LOG_CLOSED', 'closed');
    return store.commit(commit);
  }),
  'checks the version before once': onLog((commit, log, store) => {
    const { expectedVersion } = commit;
    if (expectedVersion !== 'open' && (log?.version ?? 0) !== expectedVersion)
      throw new StoreError('VERSION_CONFLICT', 'moved on');
    return store.commit(commit);
  }),
  'answers a repeated once with where the log ends': onCommitted(
    async (committed, { scope, taskId }, store) => {
      const log = await store.load(scope, taskId);
      return committed.repeated ? { ...committed, version: log!.version } : committed;
    },
  ),
  'counts once across tasks': (store) => {
    const used = new Map<string, Committed>();
    return {
      commit: async (commit) => {
        const before = commit.once && used.get(commit.once);
        if (before) return { version: before.version, repeated: true };
        const committed = await store.commit(commit);
        if (commit.once) used.set(commit.once, committed);
        return committed;
      },
    };
  },
  'takes the release of a commit that does not count': onCommitted(async (committed, commit, store) => {
    const { scope, taskId, commitId, turn } = commit;
    if (!committed.repeated || !turn?.release) return committed;
    const log = await store.load(scope, taskId);
    await store.commit({ scope, taskId, commitId, expectedVersion: log!.version, facts: [], turn });
    return committed;
  }),
});

const leases = broken('a lease', {
  'compares the holder and not the fence': comparingAllBut('fence'),
  'compares the fence and not the holder': comparingAllBut('holder'),
  'lets those write who released': (store) => {
    const released = new Map<string, string>();
    return {
      commit: async (commit) => {
        const writer = JSON.stringify(commit.writer);
        const committed = await store.commit(
          writer && released.get(keyOf(commit)) === writer ? { ...commit, writer: undefined } : commit,
        );
        if (commit.turn?.release && writer) released.set(keyOf(commit), writer);
        return committed;
      },
    };
  },
  'releases whatever the version is': (store) => ({
    commit: (commit) => (commit.turn?.release ? sabotage(store, 'cas').commit(commit) : store.commit(commit)),
  }),
  'takes a lease away when its time is up': (store, now) => {
    const until = new Map<string, number>();
    return {
      commit: async (commit) => {
        if (commit.writer && (until.get(keyOf(commit)) ?? 0) < now()) throw new StoreError('FENCED', 'late');
        const { acquire } = commit.turn ?? {};
        if (acquire) until.set(keyOf(commit), now() + acquire.ttlMs);
        return store.commit(commit);
      },
    };
  },
  'grants a lease that is held': onCommitted((committed, { scope, taskId, turn }) => {
    if (!turn?.acquire || committed.repeated) return committed;
    const lease = { scope, taskId, queue: turn.queue, holder: turn.acquire.holder, fence: 9 };
    return { ...committed, lease: committed.lease ?? { ...lease, cause: 'committed' } };
  }),
  'starts fences from zero': (store) => {
    const offsets = new Map<string, number>();
    return {
      commit: async (commit) => {
        const committed = await store.commit(commit);
        if (commit.turn?.release) offsets.set(keyOf(commit), commit.writer?.fence ?? 0);
        const { lease } = committed;
        return lease
          ? { ...committed, lease: { ...lease, fence: lease.fence - (offsets.get(keyOf(lease)) ?? 0) } }
          : committed;
      },
    };
  },
  'keeps wanting what a lease was given for': onCommit(({ turn }) => ({
    turn: turn?.acquire ? { queue: turn.queue, want: true } : turn,
  })),
  'never lets a lease run out': (store) => ({
    claim: (request) => store.claim({ ...request, ttlMs: 1e9 }),
    commit: ({ turn, ...commit }) =>
      store.commit({
        ...commit,
        turn: turn?.acquire ? { ...turn, acquire: { ...turn.acquire, ttlMs: 1e9 } } : turn,
      }),
  }),
  'is deaf to the head of a release without facts': onCommit(({ turn, facts, head }) => ({
    head: turn?.release && facts.length === 0 ? undefined : head,
  })),
  'is deaf to what a release wants': onCommit(({ turn }) => ({
    turn: turn?.release ? { ...turn, want: undefined } : turn,
  })),
});

const renewals = broken('renew', {
  'renews whatever it is asked to': () => ({ renew: async (asked) => asked }),
  'renews nothing': () => ({ renew: async () => [] }),
  'renews a lease that is given twice once': (store) => ({
    renew: (asked, ttlMs) => store.renew([...new Map(asked.map((one) => [keyOf(one), one])).values()], ttlMs),
  }),
  'sorts what it renewed': (store) => ({
    renew: async (asked, ttlMs) =>
      (await store.renew(asked, ttlMs)).toSorted((a, b) => (a.taskId < b.taskId ? -1 : 1)),
  }),
  'says that it renewed and does not': (store) => ({
    renew: async (asked) => {
      const held = await store.renew(asked, 0);
      await store.renew(held, 20);
      return held;
    },
  }),
});

const races = broken('races', {
  'forgets a claim that was made during an append': (store) => {
    const granted: Lease[] = [];
    return {
      claim: async (request) => {
        const leases = await store.claim(request);
        granted.push(...leases);
        return leases;
      },
      commit: async (commit) => {
        const before = granted.length;
        if (commit.expectedVersion === 'open') await soon();
        const committed = await store.commit(commit);
        for (const writer of granted.slice(before)) {
          const { scope, taskId, queue } = writer;
          if (keyOf(writer) !== keyOf(commit)) continue;
          const expectedVersion = (await store.load(scope, taskId))!.version;
          const turn = { queue, release: true, want: true };
          await store.commit({ scope, taskId, commitId: 'undo', expectedVersion, facts: [], writer, turn });
        }
        return committed;
      },
    };
  },
  'renews with what it read before': (store) => ({
    renew: async (leases, ttlMs) => {
      const versions = await Promise.all(leases.map(({ scope, taskId }) => store.load(scope, taskId)));
      await soon();
      const now = await Promise.all(leases.map(({ scope, taskId }) => store.load(scope, taskId)));
      return store.renew(
        leases.filter((_, n) => now[n]?.version === versions[n]?.version),
        ttlMs,
      );
    },
  }),
});

const claims = broken('claim', {
  'gives out a task that is held': (store) => ({
    claim: async (request) => {
      const given = await store.claim(request);
      await store.renew(given, -1);
      return given;
    },
  }),
  'loses what it could not give out': (store) => ({
    claim: async (request) =>
      (await store.claim({ ...request, limit: request.limit + 1 })).slice(0, request.limit),
  }),
  'does not hear that a time has come': onRequest(({ dueAt: _, ...request }) => request),
  'ignores the limit': onRequest((request) => ({ ...request, limit: 1_000 })),
  'ignores the task that is asked for': onRequest(({ task: _, ...request }) => request),
  'mixes up queues': (store) => {
    const queues = new Set<string>();
    return {
      commit: (commit) => {
        if (commit.turn) queues.add(commit.turn.queue);
        return store.commit(commit);
      },
      claim: async (request) => {
        const given = [];
        for (const queue of queues) given.push(...(await store.claim({ ...request, queue })));
        return given.slice(0, request.limit);
      },
    };
  },
  'does not give a token its leases again': onLeases((leases) =>
    leases.filter(({ cause }) => cause !== 'held'),
  ),
  'gives a token that asks again a new fence': onLeases((leases) =>
    leases.map((lease) =>
      lease.cause === 'held' ? { ...lease, fence: lease.fence + 1, cause: 'expired' } : lease,
    ),
  ),
  'never fires a clock': onCommit(({ head }) => ({ head: head && { ...head, dueAt: undefined } })),
  'fires clocks that have time': onCommit(({ head }) => ({
    head: head?.dueAt ? { ...head, dueAt: '2020-01-01T00:00:00.000Z' } : head,
  })),
  'gives out the newest task first': (store) => {
    const made: TaskName[] = [];
    return {
      commit: (commit) => {
        if (commit.expectedVersion === 0) made.unshift(commit);
        return store.commit(commit);
      },
      claim: async (request) => {
        if (request.task) return store.claim(request);
        const given: Lease[] = [];
        for (const task of made) {
          if (given.length === request.limit) break;
          given.push(...(await store.claim({ ...request, task, limit: request.limit - given.length })));
        }
        return given;
      },
    };
  },
  'goes by the ids of tasks': (store) => {
    const made = new Map<string, TaskName>();
    return {
      commit: (commit) => {
        made.set(commit.taskId, commit);
        return store.commit(commit);
      },
      claim: async (request) => {
        if (request.task) return store.claim(request);
        const given: Lease[] = [];
        for (const [, task] of [...made].sort())
          given.push(...(await store.claim({ ...request, task, limit: request.limit - given.length })));
        return given;
      },
    };
  },
  'gives out nothing while leases are kept': (store) => ({
    claim: async (request) => (request.isKept ? [] : store.claim(request)),
  }),
  'ignores the scope that is asked for': (store) => ({
    claim: async ({ task, ...request }) => {
      const given: Lease[] = [];
      for (const scope of ['s1', 's2', 's3'])
        given.push(...(await store.claim({ ...request, ...(task && { task: { ...task, scope } }) })));
      return given;
    },
  }),
  'gives out every task of an id as one': onLeases((given) =>
    given.filter(({ taskId }, n) => given.findIndex((lease) => lease.taskId === taskId) === n),
  ),
});

const reads = [
  ...broken('a lease', {
    'reads a lease without its holder': (store) => ({
      lease: async (scope, taskId) => {
        const found = await store.lease?.(scope, taskId);
        return found && { fence: found.fence, isWanted: found.isWanted };
      },
    }),
    'reads the lease of a task of another scope': (store) => ({
      lease: (_scope, taskId) => store.lease!('s', taskId),
    }),
  }),
  ...broken('waiting', {
    'counts a running task as waiting': (store) => {
      let count = 0;
      return {
        commit: async (commit) => {
          const committed = await store.commit(commit);
          if (commit.turn?.want) count++;
          return committed;
        },
        waiting: async () => count,
      };
    },
    'stops counting too early': (store) => ({
      waiting: async (queue, atMost = 1e6) => Math.min(await store.waiting(queue), atMost - 1),
    }),
    'counts the tasks of all queues': (store) => {
      const queues = new Set<string>();
      return {
        commit: (commit) => {
          if (commit.turn) queues.add(commit.turn.queue);
          return store.commit(commit);
        },
        waiting: async () => {
          let sum = 0;
          for (const queue of queues) sum += await store.waiting(queue);
          return sum;
        },
      };
    },
    'lets a task wait where none may': onCommit(({ turn }) => ({
      turn: turn && { ...turn, waitingAtMost: undefined },
    })),
    'refuses one task too early': onCommit(({ turn }) => ({
      turn: turn?.waitingAtMost ? { ...turn, waitingAtMost: turn.waitingAtMost - 1 } : turn,
    })),
    'keeps what it refuses because none may wait': onRefusal('QUEUE_FULL', async (commit, store) => {
      await store.commit({ ...commit, turn: undefined });
      return undefined;
    }),
    'refuses a turn that begins at once, where none may wait': (store) => ({
      commit: async (commit) => {
        const { queue, waitingAtMost = 1e6 } = commit.turn ?? { queue: '' };
        if (queue && (await store.waiting(queue)) >= waitingAtMost)
          throw new StoreError('QUEUE_FULL', 'full');
        return store.commit(commit);
      },
    }),
  }),
  ...broken('load', {
    'reads head and facts at different moments': (store) => ({
      load: async (scope, taskId) => {
        const early = await store.load(scope, taskId);
        await soon();
        const late = await store.load(scope, taskId);
        return early && late && { ...late, head: early.head };
      },
    }),
    'gives every reader the same thing to change': (store) => {
      const cache = new Map<string, unknown>();
      return {
        load: async (scope, taskId) => {
          const log = await store.load(scope, taskId);
          if (!log) return undefined;
          const key = `${keyOf({ scope, taskId })}\n${log.version}`;
          if (!cache.has(key)) cache.set(key, structuredClone(log));
          return cache.get(key) as typeof log;
        },
      };
    },
    'finds tasks whatever their case': withIds((id) => id.toLowerCase()),
  }),
  ...broken('identity', {
    'has no identity': () => ({ identity: async () => '' }),
    'has another identity whenever it is asked': () => ({ identity: async () => String(Math.random()) }),
    'has another identity once it holds tasks': (store) => ({
      identity: async () =>
        (await store.identity()) + (await store.list('s', { limit: 1, answered: true })).total,
    }),
  }),
  ...broken('identity', {
    'has an identity of its own in every process': () => {
      const own = String(Math.random());
      return { identity: async () => own };
    },
  }).map((one) => ({ ...one, onlySecond: true })),
  ...broken('readFacts', {
    'goes on after a commit that it does not hold': (store) => ({
      readFacts: (scope, taskId, after, limit) => store.readFacts(scope, taskId, after, limit),
    }),
    'does not notice that its log became shorter than the reader knows': (store) => ({
      readFacts: async (...args) => {
        const facts = await store.readFacts(args[0], args[1], args[2] - 1, 1);
        return facts.length === 0 ? [] : store.readFacts(...args);
      },
    }),
    'takes the beginning of a commit id for the whole': (store) => ({
      readFacts: async (scope, taskId, after, limit, lastCommitId) => {
        const [last] = await store.readFacts(scope, taskId, after - 1, 1);
        const isIt = lastCommitId && last?.commitId.startsWith(lastCommitId);
        return store.readFacts(scope, taskId, after, limit, isIt ? undefined : lastCommitId);
      },
    }),
    'refuses to go on after the last fact that it holds': (store) => ({
      readFacts: async (scope, taskId, after, limit, lastCommitId) => {
        const facts = await store.readFacts(scope, taskId, after, limit, lastCommitId);
        if (facts.length === 0 && lastCommitId !== undefined) throw new StoreError('LOG_DIVERGED', 'Gone');
        return facts;
      },
    }),
    'skips a fact': (store) => ({
      readFacts: async (scope, taskId, after, limit) =>
        (await store.readFacts(scope, taskId, after, limit)).filter(
          ({ version }) => after === 0 || version !== after + 2,
        ),
    }),
    'starts one too early': (store) => ({
      readFacts: (scope, taskId, after, limit) =>
        store.readFacts(scope, taskId, Math.max(0, after - 1), limit),
    }),
    'ignores the limit': (store) => ({
      readFacts: (scope, taskId, after) => store.readFacts(scope, taskId, after, 1e6),
    }),
    'only has what follows the snapshot': (store) => ({
      readFacts: async (scope, taskId, after, limit) => {
        const log = await store.load(scope, taskId);
        return (log?.facts ?? []).filter(({ version }) => version > after).slice(0, limit);
      },
    }),
  }),
];

const byAge = (a: ListedTask, b: ListedTask) => (a.head.statusAt < b.head.statusAt ? -1 : 1);
const all = { limit: 1e6, after: undefined };

const lists = broken('list', {
  'puts the oldest first': onList((page) => ({ ...page, tasks: page.tasks.toSorted(byAge) })),
  'leaves ties as they come': onList((page) => ({
    ...page,
    tasks: page.tasks.toSorted((a, b) =>
      a.head.statusAt === b.head.statusAt && a.taskId < b.taskId ? -1 : 0,
    ),
  })),
  'starts a page with the last task of the one before': onList(
    async (page, { after, limit, ...query }, store, scope) => {
      const { tasks } = await store.list(scope, { ...query, ...all });
      const from = tasks.findIndex(({ taskId }) => taskId === after?.taskId);
      return from < 0 ? page : { ...page, tasks: tasks.slice(from, from + limit) };
    },
  ),
  'skips tasks of the same moment at the end of a page': onList((page, { after }) => ({
    ...page,
    tasks: page.tasks.filter(({ head }) => head.statusAt !== after?.statusAt),
  })),
  'counts the page instead of all': onList(({ tasks }) => ({ tasks, total: tasks.length })),
  'stops counting at the page': onList((page, { totalAtMost, limit }) =>
    totalAtMost === undefined ? page : { ...page, total: Math.min(limit, page.total) },
  ),
  'counts more than there are where it may stop': onList((page, { totalAtMost = 0 }) => ({
    ...page,
    total: Math.max(page.total, totalAtMost),
  })),
  'counts the rest instead of all': onList(async (page, query, store, scope) => {
    const { tasks } = await store.list(scope, { ...query, limit: 1e6 });
    return { ...page, total: tasks.length };
  }),
  'leaves out the moment that is asked for': onList(async (_, query, store, scope) => {
    const { tasks } = await store.list(scope, { ...query, limit: 1e6 });
    const later = tasks.filter(({ head }) => head.statusAt !== query.statusSince);
    return { tasks: later.slice(0, query.limit), total: later.length };
  }),
  'gives more bytes than a page may have': onQuery(() => ({ bytes: undefined })),
  'ends a page early without saying so': onList(({ tasks, total }) => ({ tasks, total })),
  'ignores the context': onQuery(() => ({ contextId: undefined })),
  'lists everything by a text that it cannot search': onQuery(() => ({ text: undefined })),
  'ignores labels': onQuery(() => ({ labels: undefined })),
  'takes one label for all of them': onQuery(({ labels }) => ({ labels: labels?.slice(0, 1) })),
  'takes no labels for none at all': onQuery(({ labels }) => ({ labels: labels?.length ? labels : ['x'] })),
  'finds a part of a label': (store) => ({
    list: async (scope, { labels, ...query }) => {
      if (!labels) return store.list(scope, query);
      const { tasks } = await store.list(scope, { ...query, limit: 1e6 });
      const found = tasks.filter(({ head }) => labels.every((one) => `${head.labels}`.includes(one)));
      return { tasks: found.slice(0, query.limit), total: found.length };
    },
  }),
  'takes an empty context for none': onQuery(({ contextId }) => ({ contextId: contextId || undefined })),
  'ignores the state': onQuery(() => ({ state: undefined })),
  'always shows logs that are no tasks': onQuery(() => ({ answered: true })),
  'never shows logs that are no tasks': onQuery(() => ({ answered: false })),
  'gives the last fact instead of the one of the status': onList(async (page, _, store, scope) => ({
    ...page,
    tasks: await Promise.all(
      page.tasks.map(async (task) => ({
        ...task,
        fact: (await store.readFacts(scope, task.taskId, 0, 1e6)).at(-1)!,
      })),
    ),
  })),
  'leaves tasks where they were': (store) => {
    const at = new Map<string, string>();
    return {
      commit: (commit) => {
        const { head } = commit;
        if (!head) return store.commit(commit);
        const statusAt = at.get(keyOf(commit)) ?? head.statusAt;
        at.set(keyOf(commit), statusAt);
        return store.commit({ ...commit, head: { ...head, statusAt } });
      },
    };
  },
});

const isolation = [
  ...broken('what lies in another scope', {
    'loads what lies in another scope': (store) => {
      const scopes = new Map<string, string>();
      return {
        commit: (commit) => {
          scopes.set(commit.taskId, commit.scope);
          return store.commit(commit);
        },
        load: (scope, taskId) => store.load(scopes.get(taskId) ?? scope, taskId),
      };
    },
    'lists what lies in another scope': (store) => {
      const scopes = new Set<string>();
      return {
        commit: (commit) => {
          scopes.add(commit.scope);
          return store.commit(commit);
        },
        list: async (_, query) => {
          const pages = await Promise.all([...scopes].map((scope) => store.list(scope, query)));
          const tasks = pages.flatMap((page) => page.tasks);
          return { tasks: tasks.slice(0, query.limit), total: tasks.length };
        },
      };
    },
  }),
  ...broken('ids', {
    'trims ids': withIds((id) => id.trim() || id),
    'folds accents together': withIds((id) => id.normalize('NFC')),
    'cuts ids off': withIds((id) => id.slice(0, 255)),
    'makes keys that are too long for an index': withKeysOf(2_704),
    'takes ids of 3,070 bytes, but not two of them in one key': withKeysOf(4_096),
    'runs scope and task together': (store) => ({
      commit: (commit) => store.commit({ ...commit, scope: '', taskId: `${commit.scope}:${commit.taskId}` }),
      readFacts: (scope, taskId, ...rest) => store.readFacts('', `${scope}:${taskId}`, ...rest),
    }),
  }),
];

/** Notifies by itself, of all tasks and queues. */
const notifying =
  (commit: (commit: () => Promise<Committed>, notifyAll: () => void) => Promise<Committed>): Break =>
  (store) => {
    const subscribers = new Set<() => void>();
    return {
      subscribe: async (_, notify) => {
        const subscriber = () => notify();
        subscribers.add(subscriber);
        return () => void subscribers.delete(subscriber);
      },
      commit: (one) =>
        commit(
          async () => store.commit(one),
          () => {
            for (const subscriber of subscribers) subscriber();
          },
        ),
    };
  };

const notifications = [
  ...broken('subscribe', {
    'goes on notifying after unsubscribe': (store) => ({
      subscribe: async (topic, notify) => {
        await store.subscribe(topic, notify);
        return () => {};
      },
    }),
    'notifies only the first subscriber': (store) => {
      const subscribed = new Set<string>();
      return {
        subscribe: async (topic, notify) => {
          const key = JSON.stringify(topic);
          if (subscribed.has(key)) return () => {};
          subscribed.add(key);
          return store.subscribe(topic, notify);
        },
      };
    },
    'notifies of tasks only': (store) => ({
      subscribe: async (topic, notify) => ('queue' in topic ? () => {} : store.subscribe(topic, notify)),
    }),
    'does not notify of open appends': (store) => {
      let silent = false;
      return {
        commit: async (commit) => {
          silent = commit.expectedVersion === 'open';
          const committed = await store.commit(commit);
          silent = false;
          return committed;
        },
        subscribe: (topic, notify) => store.subscribe(topic, () => (silent ? undefined : notify())),
      };
    },
    'rejects a commit whose subscriber throws': notifying(async (commit, notifyAll) => {
      const committed = await commit();
      notifyAll();
      return committed;
    }),
    'notifies no one after a subscriber that throws': notifying(async (commit, notifyAll) => {
      const committed = await commit();
      try {
        notifyAll();
      } catch {}
      return committed;
    }),
    'notifies before the commit can be read': notifying(async (commit, notifyAll) => {
      notifyAll();
      await soon();
      return commit();
    }),
  }),
  ...broken('deletions', {
    'keeps the last turn of a caller that it is to forget': () => ({ forgetTurns: async () => {} }),
    'writes the records of deletions after them': (store) => ({
      prune: async (options) => {
        const pruned = await store.prune(options);
        const records = await store.listRecords({ prefix: 'deleted/', limit: 99 });
        for (const { name } of records) await store.deleteRecord(name);
        for (let n = 0; n < 9; n++) await soon();
        for (const { name, value } of records) await store.putRecord(name, 0, value, { ttlMs: 60_000 });
        return pruned;
      },
    }),
    'writes the records of deletions before them': (store) => ({
      prune: async (options) => {
        for (let n = 0; n < 9; n++)
          await store.putRecord(`${deletionsOf('s')}t${n}`, 0, true, { ttlMs: 60_000 });
        await soon();
        return store.prune(options);
      },
    }),
    'takes deletions whose records are gone for losses': (store) => {
      let isGone = false;
      return {
        deleteRecord: (...args) => {
          isGone = true;
          return store.deleteRecord(...args);
        },
        readFacts: (...args) =>
          isGone
            ? store.readFacts(...args).catch(renamed('LOG_DELETED', 'LOG_DIVERGED'))
            : store.readFacts(...args),
      };
    },
    'begins what was deleted again': onCommit(() => ({ unlessDeleted: undefined })),
  }),
  ...broken('prune', {
    'takes a deletion for a loss': (store) => ({
      readFacts: (...args) => store.readFacts(...args).catch(renamed('LOG_DELETED', 'LOG_DIVERGED')),
    }),
    'forgets to look for the origin of a log': onCommit(({ origin: _, ...rest }) => ({
      ...rest,
      origin: undefined,
    })),
    'takes a loss for a deletion': (store) => ({
      readFacts: (...args) => store.readFacts(...args).catch(renamed('LOG_DIVERGED', 'LOG_DELETED')),
    }),
    'prunes open logs': (store) => {
      const open = new Map<string, Commit>();
      const gone = new Set<string>();
      return {
        commit: async (commit) => {
          const committed = await store.commit(commit);
          if (commit.head?.closed) open.delete(keyOf(commit));
          else if (commit.head) open.set(keyOf(commit), commit);
          return committed;
        },
        prune: async (options) => {
          const pruned = await store.prune(options);
          for (const key of open.keys()) gone.add(key);
          return pruned + gone.size;
        },
      };
    },
    'prunes more than asked for': (store) => ({
      prune: (options) => store.prune({ ...options, limit: 1e6 }),
    }),
    'prunes the edge too': (store) => ({
      prune: ({ closedBefore, limit }) =>
        store.prune({ closedBefore: new Date(Date.parse(closedBefore) + 1).toISOString(), limit }),
    }),
    'keeps every log as long as others': onCommit(({ head }) => ({
      head: head && { ...head, keepMs: undefined },
    })),
    'remembers the keys of pruned logs': (store) => {
      const used = new Set<string>();
      return {
        commit: async (commit) => {
          const key = `${keyOf(commit)}\n${commit.once}`;
          if (commit.once && used.has(key)) return { version: 1, repeated: true };
          const committed = await store.commit(commit);
          used.add(key);
          return committed;
        },
      };
    },
  }),
];

const ends = [
  ...broken('ping', { 'does not answer': () => ({ ping: async () => Promise.reject(new Error('No')) }) }),
  ...broken('close', {
    'cannot be closed twice': (store) => {
      let closed = false;
      return {
        close: async () => {
          if (closed) throw new Error('It is closed');
          closed = true;
          await store.close();
        },
      };
    },
  }),
];

const sabotaged: Broken[] = [
  { fault: 'does not check the version', section: 'commit', open: (store) => sabotage(store, 'cas') },
  { fault: 'does not check the writer', section: 'a lease', open: (store) => sabotage(store, 'fence') },
  { fault: 'does not keep commit ids', section: 'commit', open: (store) => sabotage(store, 'commit-id') },
  { fault: 'never notifies', section: 'subscribe', open: (store) => sabotage(store, 'notification') },
  { fault: 'leaves followers waiting', section: 'follow', open: (store) => sabotage(store, 'notification') },
  {
    fault: 'does not notify other handles',
    section: 'subscribe',
    open: (store) => sabotage(store, 'notification'),
    onlySecond: true,
  },
];

/** Changes the schedule of every claim. */
const onSchedule = (change: (schedule: TurnSchedule) => TurnSchedule | undefined): Break =>
  onRequest(({ schedule, ...request }) => {
    const changed = schedule && change(schedule);
    return changed ? { ...request, schedule: changed } : request;
  });
/** Counts the turns of each claim alone. */
const alone = onRequest(({ schedule, ...request }) => {
  const limit = Math.min(request.limit, schedule?.concurrency ?? request.limit);
  return { ...request, limit, ...(schedule && { schedule: {} }) };
});

const schedules = broken('a schedule', {
  'lets any number of turns run': onSchedule(({ concurrency: _, ...schedule }) => schedule),
  'lets a caller have any number of turns': onSchedule(({ perCaller: _, ...schedule }) => schedule),
  'runs any number of turns in a context': onSchedule(({ perContext: _, ...schedule }) => schedule),
  'counts the turns of one claim only': alone,
  'takes a context for a caller': onSchedule(({ perContext, ...schedule }) => ({
    ...schedule,
    ...(perContext !== undefined && { perCaller: perContext }),
  })),
  'knows no schedule': onSchedule(() => undefined),
  'gives out the oldest task, of whichever caller': onCommit(({ turn }) => {
    if (!turn) return {};
    const { aheadMs: _, ...rest } = turn;
    return { turn: rest };
  }),
  'is deaf to urgency': onCommit(({ turn }) => ({
    turn: turn?.aheadMs === undefined ? turn : { ...turn, aheadMs: 0 },
  })),
  'lets urgent tasks overtake those that have waited longer': onCommit(({ turn }) => ({
    turn: turn?.aheadMs ? { ...turn, aheadMs: 1e9 } : turn,
  })),
  'is deaf to the urgency of tasks that are postponed': onCommit(({ turn, head }) => ({
    turn: turn?.aheadMs && head?.dueAt ? { ...turn, aheadMs: 0 } : turn,
  })),
  'does not count the turns of tasks that were stored without one': (store) => {
    const plain: TaskName[] = [];
    return {
      commit: (commit) => {
        if (commit.turn?.want && commit.turn.aheadMs === undefined) plain.push(commit);
        return store.commit(commit);
      },
      async claim({ schedule, ...request }) {
        if (!schedule || plain.length === 0)
          return store.claim({ ...request, ...(schedule && { schedule }) });
        const most = Math.min(request.limit, schedule.concurrency ?? request.limit);
        const claims = plain.splice(0, most).map((task) => store.claim({ ...request, task }));
        return (await Promise.all(claims)).flat();
      },
    };
  },
  'leaves what a dead holder left while no turn may start': onLeases((leases, { schedule }) =>
    leases.filter(({ cause }) => cause !== 'expired' || !schedule),
  ),
});

/** Buckets that are kept in a map, with something wrong about them. */
const bucketsIn =
  (fullAt = new Map<string, number>(), change: (bucket: string) => string = (bucket) => bucket): Break =>
  () => ({
    async take(bucket, rate) {
      const key = change(bucket);
      const after = takenFrom(fullAt.get(key), rate, performance.now());
      fullAt.set(key, after.fullAt);
      return after.waitMs;
    },
  });
const onTake =
  (take: (store: TaskStore, bucket: string, rate: Rate) => Promise<number>): Break =>
  (store) => ({ take: (bucket, rate) => take(store, bucket, rate) });

const buckets = [
  ...broken('take', {
    'never refuses': onTake(async () => 0),
    'always refuses': onTake(async () => 1),
    'gives one more than the burst': onTake((store, bucket, { burst, everyMs }) =>
      store.take!(bucket, { burst: burst + 1, everyMs }),
    ),
    'takes one though it refuses': () => {
      const fullAt = new Map<string, number>();
      return {
        async take(bucket, rate) {
          const now = performance.now();
          const from = Math.max(fullAt.get(bucket) ?? now, now);
          fullAt.set(bucket, from + rate.everyMs);
          return Math.max(0, from + rate.everyMs - rate.burst * rate.everyMs - now);
        },
      };
    },
    'cuts the names of buckets': (store, now) =>
      bucketsIn(new Map(), (bucket) => bucket.slice(0, 255))(store, now),
    'has one bucket for all': (store, now) => bucketsIn(new Map(), () => '')(store, now),
    'is never fuller than by the rate before': () => {
      const fullAt = new Map<string, number>();
      return {
        async take(bucket, { burst, everyMs }) {
          const now = performance.now();
          const next = Math.max(fullAt.get(bucket) ?? now, now) + everyMs;
          const waitMs = next - burst * everyMs - now;
          if (waitMs <= everyMs / 100) fullAt.set(bucket, next);
          return waitMs > everyMs / 100 ? waitMs : 0;
        },
      };
    },
    'never fills a bucket': (store) => {
      const taken = new Map<string, number>();
      return {
        ...store,
        async take(bucket, { burst }) {
          const count = taken.get(bucket) ?? 0;
          if (count < burst) taken.set(bucket, count + 1);
          return count < burst ? 0 : 1;
        },
      };
    },
    'reads, and writes later what it decided': () => {
      const fullAt = new Map<string, number>();
      return {
        async take(bucket, rate) {
          const after = takenFrom(fullAt.get(bucket), rate, performance.now());
          await soon();
          fullAt.set(bucket, after.fullAt);
          return after.waitMs;
        },
      };
    },
  }),
  ...broken('take', {
    'keeps the buckets of a process to itself': (store, now) => bucketsIn()(store, now),
  }).map((one) => ({ ...one, onlySecond: true })),
];

type Put = Parameters<TaskStore['putRecord']>;

/** Puts of records, changed on the way in. */
const onPut =
  (change: (...args: Put) => Put): Break =>
  (store) => ({ putRecord: (...args) => store.putRecord(...change(...args)) });

const recordFaults = broken('records', {
  'writes over any revision of a record': (store) => ({
    putRecord: async (name, _, value, options) =>
      store.putRecord(name, (await store.getRecord(name))?.revision ?? 0, value, options),
  }),
  'reads a record, and writes later what it decided': (store) => ({
    async putRecord(name, revision, value, options) {
      if (((await store.getRecord(name))?.revision ?? 0) !== revision) return undefined;
      await soon();
      const now = (await store.getRecord(name))?.revision ?? 0;
      return store.putRecord(name, now, value, options);
    },
  }),
  'deletes any revision of a record': (store) => ({ deleteRecord: (name) => store.deleteRecord(name) }),
  'says that it deleted what was not there': (store) => ({
    deleteRecord: async (...args) => {
      await store.deleteRecord(...args);
      return true;
    },
  }),
  'begins the revisions of each record with 1': (store) => {
    const first = new Map<string, number>();
    const less = (name: string) => (first.get(name) ?? 1) - 1;
    return {
      getRecord: async (name) => {
        const record = await store.getRecord(name);
        return record && { ...record, revision: record.revision - less(name) };
      },
      putRecord: async (name, revision, value, options) => {
        const given = await store.putRecord(name, revision && revision + less(name), value, options);
        if (given !== undefined && revision === 0) first.set(name, given);
        return given === undefined ? undefined : given - less(name);
      },
      deleteRecord: (name, revision) => store.deleteRecord(name, revision && revision + less(name)),
    };
  },
  'forgets the scope of a record': onPut((name, revision, value, options) => [
    name,
    revision,
    value,
    { ...options, scope: undefined },
  ]),
  'keeps the first scope of a record': (store) => {
    const first = new Map<string, string | undefined>();
    return {
      putRecord: (name, revision, value, options) => {
        if (!first.has(name)) first.set(name, options?.scope);
        return store.putRecord(name, revision, value, { ...options, scope: first.get(name) });
      },
    };
  },
  'keeps records forever': onPut((name, revision, value, options) => [
    name,
    revision,
    value,
    options && { ...options, ttlMs: options.ttlMs && options.ttlMs * 1e6 },
  ]),
  'lists records in the order of their age': (store) => {
    const ages: string[] = [];
    return {
      putRecord: (name, ...rest) => {
        ages.push(name);
        return store.putRecord(name, ...rest);
      },
      listRecords: async (query) =>
        (await store.listRecords(query)).toSorted(
          (one, other) => ages.indexOf(one.name) - ages.indexOf(other.name),
        ),
    };
  },
  'lists the record that a page begins after': (store) => ({
    listRecords: async ({ after, ...query }) =>
      (await store.listRecords({ ...query, limit: 99 }))
        .filter(({ name }) => after === undefined || name >= after)
        .slice(0, query.limit),
  }),
  'lists records of all scopes': (store) => ({
    listRecords: ({ scope: _, ...query }) => store.listRecords(query),
  }),
  'lists fewer records where some are over': (store) => {
    const timed = new Set<string>();
    return {
      putRecord: (name, revision, value, options) => {
        if (options?.ttlMs && options.ttlMs < 1_000) timed.add(name);
        return store.putRecord(name, revision, value, options);
      },
      listRecords: async (query) => {
        const [first, ...others] = await store.listRecords(query);
        return first && timed.size > 1 ? others : [...(first ? [first] : []), ...others];
      },
    };
  },
  'keeps records of any size': onPut((name, revision, value, options) => [
    name,
    revision,
    typeof value === 'string' ? value.slice(0, 65_534) : value,
    options,
  ]),
  'gives the value of a record by reference': (store) => {
    const values = new Map<string, unknown>();
    return {
      putRecord: (name, revision, value, options) => {
        values.set(name, value);
        return store.putRecord(name, revision, value, options);
      },
      getRecord: async (name) => {
        const record = await store.getRecord(name);
        return record && { ...record, value: values.get(name) };
      },
    };
  },
  'lists records among tasks': (store) => ({
    list: async (scope, query) => {
      const page = await store.list(scope, query);
      return { ...page, total: page.total + (await store.listRecords({ scope, limit: 9 })).length };
    },
  }),
});

/** A handle that keeps records to itself. */
const ownRecords = broken('records', {
  'keeps the records of a process to itself': () => {
    const own = memoryStore();
    return {
      getRecord: own.getRecord,
      putRecord: own.putRecord,
      deleteRecord: own.deleteRecord,
      listRecords: own.listRecords,
    };
  },
}).map((one) => ({ ...one, onlySecond: true }));

export const brokenTaskStores: readonly Broken[] = [
  ...recordFaults,
  ...ownRecords,
  ...buckets,
  ...sabotaged,
  ...commits,
  ...opens,
  ...onces,
  ...leases,
  ...renewals,
  ...claims,
  ...schedules,
  ...races,
  ...reads,
  ...lists,
  ...isolation,
  ...notifications,
  ...ends,
];
