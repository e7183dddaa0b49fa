import { accounts, type Bank } from './bank.ts';

/** Something that is wrong with the money. */
export interface Fault {
  readonly kind: /** An account does not have what it should. */
    | 'balance'
    /** A transfer that was committed has no move, or more than one, or one of another amount. */
    | 'move'
    /** A move belongs to no transfer that was committed. */
    | 'unwanted'
    /** A message was never sent. */
    | 'unsent'
    /** A turn committed after a later one of its task had. */
    | 'stale';
  readonly about: string;
}

const columns = {
  wanted: 'select task, source, target, cents from wanted',
  moves: 'select task, cents from moves',
  balances: 'select id, cents from accounts order by id',
  visits: 'select task, fence from visits order by seq',
  submissions: 'select seq, error from baton_submissions',
};

/** Reads the tables, all as of one time. */
export function readBank({ database, execute }: Bank) {
  const read = async (tx: unknown) => {
    if (database.driver.dialect === 'postgres')
      await execute(tx, 'set transaction isolation level repeatable read');
    return {
      wanted: await execute(tx, columns.wanted),
      moves: await execute(tx, columns.moves),
      balances: await execute(tx, columns.balances),
      visits: await execute(tx, columns.visits),
      submissions: await execute(tx, columns.submissions),
    };
  };
  return database.driver.transaction(read);
}

/** Says what is wrong. `isOver`: every transfer has to be there; otherwise some are still under way. */
export function audit(
  { wanted, moves, balances, visits }: Awaited<ReturnType<typeof readBank>>,
  { isOver }: { isOver: boolean },
): Fault[] {
  const faults: Fault[] = [];
  const expected = new Array<number>(accounts.count).fill(accounts.cents);
  const moved = Map.groupBy(moves, ({ task }) => String(task));
  for (const { task, source, target, cents } of wanted) {
    const of = moved.get(String(task)) ?? [];
    moved.delete(String(task));
    if (of.length === 0 && !isOver) continue;
    if (of.length !== 1 || Number(of[0]?.cents) !== Number(cents))
      faults.push({ kind: 'move', about: `${task}: ${cents} wanted, ${JSON.stringify(of)}` });
    expected[Number(source)]! -= Number(cents);
    expected[Number(target)]! += Number(cents);
  }
  for (const task of moved.keys()) faults.push({ kind: 'unwanted', about: task });
  for (const { id, cents } of balances)
    if (expected[Number(id)] !== Number(cents))
      faults.push({ kind: 'balance', about: `${id}: ${cents}, not ${expected[Number(id)]}` });
  const latest = new Map<unknown, number>();
  for (const { task, fence } of visits) {
    if (Number(fence) < (latest.get(task) ?? 0)) faults.push({ kind: 'stale', about: `${task}: ${fence}` });
    latest.set(task, Math.max(Number(fence), latest.get(task) ?? 0));
  }
  return faults;
}
