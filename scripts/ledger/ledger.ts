import { setTimeout as sleep } from 'node:timers/promises';
import { submit } from '@batonjs/transactions';
import { scopeOf } from '../../test/kit/scope.ts';
import { Fleet } from '../chaos/fleet.ts';
import type { MediumName } from '../chaos/medium.ts';
import { between, seeded } from '../workload/random.ts';
import { stuckLogs } from '../workload/stuck.ts';
import { readLogs } from '../workload/verdict.ts';
import { audit, type Fault, readBank } from './audit.ts';
import { accounts, type Bank, type BankPlace, foundBank, openBank, openTasks, prepareBank } from './bank.ts';
import type { BankOrders } from './bank-process.ts';
import { killAtRandom, type LedgerKills } from './killer.ts';
import type { Protection } from './sabotage.ts';

export interface LedgerOptions {
  readonly database: BankPlace['kind'];
  /** What the tasks are kept in, if not in a database like that of the money. */
  readonly tasks: MediumName | undefined;
  readonly kills: number;
  readonly seed: string;
  readonly sabotage: Protection | undefined;
  readonly leaseMs: number;
  readonly processes: number;
  /** End at the latest after so many milliseconds of killing. */
  readonly forMs: number;
}

/** What a run has shown. */
export interface LedgerReport {
  readonly kills: LedgerKills;
  /** Transfers that were committed with a message, and those that were rolled back with one. */
  readonly transfers: number;
  /** Transfers on which several attempts worked. */
  readonly reruns: number;
  readonly rolledBack: number;
  /** Processes that ended by themselves. */
  readonly crashes: number;
  /** Tasks that did not complete. */
  readonly unfinished: readonly string[];
  readonly faults: readonly Fault[];
}

/**
 * Resolves when every message was sent, or when none is after so many leases. What a killed process claimed is free after
 * 30 s: here at once, and what a living one is sending is sent twice.
 */
async function emptied(bank: Bank, leaseMs: number): Promise<void> {
  const release = () =>
    bank.database.driver.transaction((tx) =>
      bank.execute(tx, 'update baton_submissions set due = 0 where error is null'),
    );
  // A file may be locked at the moment.
  let isReleased = false;
  for (let reads = 0; reads < 200; reads++) {
    if (!isReleased)
      isReleased = await release().then(
        () => true,
        () => false,
      );
    const seen = await readBank(bank).catch(() => undefined);
    if (seen?.submissions.length === 0) return;
    await sleep(leaseMs / 2);
  }
}

/** Reads the tables as soon as no process writes. */
async function readWhenFree(bank: Bank, leaseMs: number): ReturnType<typeof readBank> {
  for (let reads = 0; reads < 200; reads++) {
    const seen = await readBank(bank).catch(() => undefined);
    if (seen) return seen;
    await sleep(leaseMs / 10);
  }
  return readBank(bank);
}

/** How many transfers may be under way. */
const mostUnderWay = 12;

/** Moves money while processes and connections are killed, then counts it. */
export async function ledger(options: LedgerOptions): Promise<LedgerReport> {
  const { seed, leaseMs, sabotage, database: kind } = options;
  const { place, server, remove } = await prepareBank(kind, options.tasks);
  const orders: BankOrders = { place, leaseMs, seed, sabotage, faults: true };
  const fleet = new Fleet(new URL('./bank-process.ts', import.meta.url), orders);
  const bank = openBank(place, 'ledger');
  const scope = scopeOf('bank');
  let transfers = 0;
  let rolledBack = 0;
  const stop = new AbortController();

  /** Commits a transfer and its message, or rolls both back. */
  async function transfer(random: () => number): Promise<void> {
    const source = between(random, 0, accounts.count - 1);
    const target = (source + between(random, 1, accounts.count - 1)) % accounts.count;
    const cents = between(random, 1, 10_000);
    const isMeant = random() > 0.1;
    const isCommitted = await bank.database.driver
      .transaction(async (tx) => {
        const data = { source, target, cents };
        const { taskId } = await submit(bank.database, tx, { parts: [{ data }] }, { agent: 'bank' });
        const row = 'insert into wanted (task, source, target, cents) values ($1, $2, $3, $4)';
        await bank.execute(tx, row, [taskId, source, target, cents]);
        if (!isMeant) throw new Error('This transfer is not meant');
      })
      .then(
        () => true,
        () => false,
      );
    if (isCommitted) transfers++;
    else if (!isMeant) rolledBack++;
  }

  /** How many transfers were committed and have not moved yet, or undefined while the database is down. */
  const underWay = () =>
    bank.database.driver
      .transaction((tx) =>
        bank.execute(tx, 'select (select count(*) from wanted) - (select count(*) from moves) as n'),
      )
      .then(([row]) => Number(row?.n))
      .catch(() => undefined);

  async function work(): Promise<void> {
    const random = seeded(`${seed} transfers`);
    while (!stop.signal.aborted) {
      if (((await underWay()) ?? mostUnderWay) < mostUnderWay) await transfer(random);
      else await sleep(leaseMs / 20);
    }
  }

  /** A protection that is missing shows sooner or later: no need to go on then. */
  async function glance(): Promise<void> {
    while (sabotage && !stop.signal.aborted) {
      await sleep(leaseMs);
      const seen = await readBank(bank).catch(() => undefined);
      if (seen && audit(seen, { isOver: false }).length > 0) stop.abort();
    }
  }

  try {
    await foundBank(place, bank);
    await fleet.start(options.processes);
    const end = performance.now() + options.forMs;
    const working = Promise.all([work(), glance()]);
    const kills = await killAtRandom({
      fleet,
      kills: options.kills,
      leaseMs,
      onlyStops: sabotage === 'fence',
      random: seeded(`${seed} killer`),
      transfers: () => transfers,
      postgres: server,
      enough: () => performance.now() > end || stop.signal.aborted,
    });
    stop.abort();
    await working;
    fleet.calm();
    await emptied(bank, leaseMs);
    const store = await openTasks(place);
    await stuckLogs(() => readLogs(store, [scope]), { leaseMs, sleep });
    const logs = await readLogs(store, [scope]);
    await store.close();
    const unfinished = logs.flatMap(({ taskId, head }) =>
      head.state === 'TASK_STATE_COMPLETED' ? [] : `${taskId} is ${head.state}`,
    );
    const seen = await readWhenFree(bank, leaseMs);
    const faults = audit(seen, { isOver: true });
    if (logs.length !== seen.wanted.length)
      faults.push({ kind: 'unwanted', about: `${logs.length} tasks for ${seen.wanted.length} transfers` });
    for (const { seq, error } of seen.submissions) faults.push({ kind: 'unsent', about: `${seq}: ${error}` });
    const fences = Map.groupBy(seen.visits, ({ task }) => task).values();
    const reruns = [...fences].filter((of) => new Set(of.map(({ fence }) => fence)).size > 1).length;
    return {
      kills,
      transfers: seen.wanted.length,
      reruns,
      rolledBack,
      crashes: fleet.crashes,
      unfinished,
      faults,
    };
  } finally {
    stop.abort();
    await fleet.close();
    await bank.close();
    await remove();
  }
}
