import type { Checklist } from './checklist.ts';
import type { Evidence } from './report.ts';

/**
 * What keeps the project from being what the checklist asks for; empty when all is well. `skipped`: whether tests that were
 * skipped, for lack of a program they need, count as if they had passed.
 */
export function problems(
  { areas, exceptions }: Checklist,
  evidence: ReadonlyMap<string, readonly Evidence[]>,
  { skipped = false } = {},
): string[] {
  const rows = areas.flatMap((area) => area.rows);
  const known = new Set(rows.map(({ id }) => id));
  const excepted = new Set(exceptions.flatMap(({ ids }) => ids));
  const passed = (id: string) => evidence.get(id)?.some((test) => test.passed || skipped) ?? false;
  const open = rows.filter(({ id, level }) => (level === 'MUST' || level === 'SHOULD') && !passed(id));
  return [
    ...open
      .filter(({ id }) => !excepted.has(id))
      .map(({ id, level, text }) => `${id} (${level}) is covered by no test that passed: ${text}`),
    ...[...excepted]
      .filter((id) => passed(id))
      .map((id) => `${id} has tests: it is no exception any more (scripts/conformance/exceptions.ts)`),
    ...[...excepted].filter((id) => !known.has(id)).map((id) => `${id} is an exception from nothing`),
    ...[...evidence]
      .filter(([id]) => !known.has(id))
      .map(([id, tests]) => `${id} is no row: ${tests[0]?.file}`),
  ];
}
