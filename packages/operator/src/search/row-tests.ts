import { isTerminal } from '@batonjs/lifecycle';
import type { TaskSearch } from './language.ts';
import type { TaskRow } from './task-rows.ts';

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Whether a number is beyond a bound such as `>10s` or `<0.5`. */
function isBeyond(bound: string, number: number): boolean {
  const [, sign, limit, unit = ''] = /^([<>])([\d.]+)(\w*)$/.exec(bound) ?? [];
  const most = Number(limit) * (units[unit] ?? 1);
  return sign === '<' ? number < most : number > most;
}

const isLabel = (wanted: string, label: string): boolean =>
  wanted.endsWith('*') ? label.startsWith(wanted.slice(0, -1)) : label === wanted;

/** The filters that no store and no agent knows, by which each row is looked at. */
export const rowTests = {
  notLabels: ({ labels = [] }: TaskRow, unwanted: readonly string[]) =>
    !labels.some((label) => unwanted.some((one) => isLabel(one, label))),
  took({ startedAt = '', statusAt = '', state }: TaskRow, took: string) {
    const until = isTerminal(state) ? Date.parse(statusAt) : Date.now();
    return isBeyond(took, until - Date.parse(startedAt));
  },
  cost: ({ costs = {} }: TaskRow, cost: string) =>
    Object.values(costs).some((millionths) => isBeyond(cost, millionths / 1_000_000)),
  text(row: Pick<TaskRow, 'id' | 'title' | 'text' | 'labels' | 'code'>, text: string) {
    const { id, title = '', text: said = '', labels = [], code = '' } = row;
    const wanted = text.toLowerCase();
    return [id, title, said, code, ...labels].some((each) => each.toLowerCase().includes(wanted));
  },
} as const;

/** Whether a row is found by the part of a search that neither agents nor stores know; undefined for none. */
export function lookedAt(search: TaskSearch): ((row: TaskRow) => boolean) | undefined {
  const names = (Object.keys(rowTests) as (keyof typeof rowTests)[]).filter((name) => search[name]?.length);
  if (names.length === 0) return undefined;
  return (row) => names.every((name) => rowTests[name](row, search[name] as never));
}
