import type { Child } from '@batonjs/lifecycle';
import { dailyUsage } from '@batonjs/operator';
import type { TaskStore } from '@batonjs/store';
import type { Bill, Billed } from './provider.ts';

/** What the log of a task says of its calls. */
interface Log {
  readonly taskId: string;
  readonly root: string;
  /** The ids of the bills that its steps keep. */
  readonly kept: readonly number[];
  /** How many attempts did not end: each may have lost the call that was under way. */
  readonly cut: number;
  readonly children: Readonly<Record<string, Child>>;
}

async function logsOf({ transfer }: TaskStore): Promise<Log[]> {
  const logs: Log[] = [];
  let from: string | undefined;
  do {
    const page = await transfer!.tasks(from, 100);
    for (const row of page.rows) {
      const facts = (await transfer!.facts(row, 0, row.version)).map(({ fact }) => fact);
      const children: Record<string, Child> = {};
      const kept: number[] = [];
      let root = '';
      let cut = 0;
      for (const fact of facts) {
        if (fact.type === 'message-received')
          root ||= JSON.stringify(fact.message).match(/root-\d+/)?.[0] ?? '';
        if (fact.type === 'step-completed' && fact.usage) kept.push((fact.result as Bill).id);
        if (fact.type === 'turn-started' && fact.attempt > 1) cut++;
        if (fact.type === 'child-updated') children[fact.name] = fact.child;
      }
      logs.push({ taskId: row.taskId, root, kept, cut, children });
    }
    from = page.next;
  } while (from !== undefined);
  return logs;
}

/** A sum in which currencies stand beside tokens. */
function sumOf(bills: readonly Bill[]): Record<string, number> {
  const sum: Record<string, number> = { tokens: 0 };
  for (const { tokens, millionths, currency } of bills) {
    sum.tokens! += tokens;
    sum[currency] = (sum[currency] ?? 0) + millionths;
  }
  return sum;
}

const shown = (sum: Record<string, number>): string => JSON.stringify(Object.entries(sum).sort());

/** What `top` reports, by the text of its task. */
type Reports = ReadonlyMap<
  string,
  { readonly tokens: number; readonly costs: Record<string, number> } | undefined
>;

/** Says where the sums of trees are not what was billed without what is marked lost, and how many calls were lost. */
export async function audit(
  stores: Readonly<Record<'top' | 'middle', TaskStore>>,
  bills: readonly (Bill & Billed)[],
  reports: Reports,
) {
  const faults: string[] = [];
  const logs = { top: await logsOf(stores.top), middle: await logsOf(stores.middle) };
  const all = [...logs.top, ...logs.middle];
  const kept = new Set(all.flatMap((log) => log.kept));
  if (kept.size !== all.flatMap((log) => log.kept).length) faults.push('A call is in two logs');
  const reported = new Set(
    logs.middle.flatMap(({ children }) => (children.below?.usage && children.below.taskId) || []),
  );
  const isCounted = ({ id, agent, taskId }: Bill & Billed) =>
    agent === 'foreign' ? reported.has(taskId) : kept.has(id);
  for (const { taskId, cut } of all) {
    const lost = bills.filter((bill) => bill.taskId === taskId && !isCounted(bill)).length;
    if (lost > cut) faults.push(`${taskId} lost ${lost} calls in ${cut} attempts that were cut off`);
  }
  for (const { root, taskId, children } of logs.middle) {
    const isKnown = children.below?.taskId !== undefined && children.below.usage !== undefined;
    const called = bills.filter((bill) => bill.root === root && bill.agent === 'foreign' && !isCounted(bill));
    if (!isKnown && children.below?.taskId) faults.push(`The child of ${taskId} has no report`);
    const unknown = logs.middle.filter((log) => log.root === root && !log.children.below?.taskId).length;
    if (called.length > unknown) faults.push(`A report of another agent is missing in ${root}`);
  }
  for (const [root, report] of reports) {
    const expected = sumOf(bills.filter((bill) => bill.root === root && isCounted(bill)));
    const told = { tokens: report?.tokens ?? -1, ...report?.costs };
    if (shown(told) !== shown(expected))
      faults.push(`${root}: reported ${shown(told)}, not ${shown(expected)}`);
  }
  for (const agent of ['top', 'middle'] as const) {
    const days = (await dailyUsage(stores[agent], agent)).filter(({ scope }) => scope === undefined);
    const counted = days.reduce((sum, { tokens }) => sum + tokens, 0);
    const own = bills.filter((bill) => bill.agent === agent);
    const least = sumOf(own.filter(isCounted)).tokens!;
    if (counted < least || counted > sumOf(own).tokens!)
      faults.push(`The days of ${agent} have ${counted} tokens`);
  }
  const lost = bills.filter((bill) => !isCounted(bill)).length;
  return { faults, lost, cut: all.reduce((sum, log) => sum + log.cut, 0) };
}
