/** One process of a run: an agent that moves money, and the messages on their way to it. */
import { flushCompileCache } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { completed, createAgentServer } from '@batonjs/server';
import { drainSubmissions } from '@batonjs/transactions';
import { seeded } from '../workload/random.ts';
import { type BankPlace, openBank, openTasks } from './bank.ts';
import { type Protection, withoutProtection } from './sabotage.ts';

/** The options of a process. */
export interface BankOrders {
  readonly place: BankPlace;
  readonly leaseMs: number;
  readonly seed: string;
  readonly sabotage?: Protection | undefined;
  /** Whether the wall clock is set back and forth. */
  readonly faults: boolean;
}

const { place, leaseMs, seed, sabotage, faults }: BankOrders = JSON.parse(process.argv[2] ?? '{}');
const random = seeded(seed);
const pause = (ms: number) => sleep(ms * random() ** 2);
let clockIsOffBy = 0;
process.on('message', () => {
  clockIsOffBy = 0;
});
process.on('disconnect', () => process.exit());
const now = () => Date.now() + clockIsOffBy;

const { database, execute } = openBank(place, 'bank-process');
const bank = withoutProtection(database, sabotage, () => pause(leaseMs));
const server = createAgentServer({
  card: { name: 'Bank', description: 'Moves money' },
  name: 'bank',
  store: await openTasks(place, now),
  clock: { now },
  restart: { maxAttempts: 1_000_000 },
  // A transaction begins again for half a minute; the database may be away for longer.
  retry: { retries: 1_000, backoff: { initialMs: 100, maxMs: 1_000 } },
  timeouts: { leaseMs, sweepMs: leaseMs / 2, storeMs: 5_000 },
  logger: (level, message, details) => {
    if (process.env.LEDGER_LOG && level === 'error') console.error(process.pid, message, details);
  },
  /** Each attempt removes the holds of those before it, holds the money, and moves all that its task holds. */
  async *agent({ taskId, attempt, fence, values, transaction }) {
    const { source, target, cents } = values;
    await transaction(`clean ${attempt}`, bank, async (tx) => {
      await execute(tx, 'delete from holds where task = $1', [taskId]);
      await execute(tx, 'insert into visits (task, fence) values ($1, $2)', [taskId, fence]);
    });
    await pause(leaseMs / 4);
    await transaction(`hold ${attempt}`, bank, async (tx) => {
      await execute(tx, 'insert into holds (task, cents) values ($1, $2)', [taskId, Number(cents)]);
      await execute(tx, 'insert into visits (task, fence) values ($1, $2)', [taskId, fence]);
    });
    await transaction('move', bank, async (tx) => {
      const held = 'select coalesce(sum(cents), 0) from holds where task = $1';
      const change = (sign: string) => `update accounts set cents = cents ${sign} (${held}) where id = $2`;
      // Always in the same order, so that two transfers do not wait for each other.
      const sides = [[source, '-'] as const, [target, '+'] as const].sort(
        ([a], [b]) => Number(a) - Number(b),
      );
      for (const [account, sign] of sides) {
        await execute(tx, change(sign), [taskId, Number(account)]);
        await pause(leaseMs / 8);
      }
      const move =
        'insert into moves (task, cents) select $1, coalesce(sum(cents), 0) from holds where task = $2';
      await execute(tx, move, [taskId, taskId]);
      await execute(tx, 'insert into visits (task, fence) values ($1, $2)', [taskId, fence]);
    });
    yield completed();
  },
});
drainSubmissions(server, database, { pollMs: leaseMs / 4 });

async function stepClock(): Promise<void> {
  for (;;) {
    await sleep(leaseMs);
    clockIsOffBy = Math.round((random() - 0.5) * 2 * 24 * 60 * 60 * 1_000);
  }
}
if (faults) void stepClock();
process.send?.({ port: 0 });
// A process that is killed writes nothing when it ends.
flushCompileCache();
