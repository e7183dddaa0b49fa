import type { Checklist, Exception, Level, Row } from './checklist.ts';
import type { Evidence } from './report.ts';

type EvidenceByRow = ReadonlyMap<string, readonly Evidence[]>;

const levels: readonly Level[] = ['MUST', 'SHOULD', 'MAY', 'REC', 'INFO'];

/** `docs/reports/conformance.md`. */
export function page({ areas, exceptions }: Checklist, evidence: EvidenceByRow): string {
  const rows = areas.flatMap((area) => area.rows);
  const lines = [
    '# Conformance',
    '',
    'What A2A 1.0 asks for, row by row, and the tests that show it. This page is written by `pnpm conformance` from the',
    'reports of the last `pnpm test` and `pnpm test:programs`; `pnpm check` fails when it is not what they say, or when a MUST',
    'or SHOULD row is neither covered nor listed as an exception. A test covers the rows that its title, or that of its',
    'group, names; of each file the first such test is shown here. MAY, REC (our own recommendation) and INFO rows are',
    'covered where that makes sense.',
    '',
    '| level | rows | covered | exceptions | open |',
    '|---|---|---|---|---|',
    ...levels.map((level) => total(level, rows, exceptions, evidence)),
    '',
    ...(['not shipped', 'not for code'] as const).flatMap((kind) => exceptionTable(kind, exceptions, rows)),
  ];
  for (const { title, rows: own } of areas) {
    lines.push(`## ${title}`, '', '| row | level | requirement | shown by |', '|---|---|---|---|');
    lines.push(...own.map((row) => line(row, exceptions, evidence.get(row.id) ?? [])), '');
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

const titles: Record<Exception['kind'], string> = {
  'not shipped': 'Not shipped',
  'not for code': 'Not for the code of a library',
};

function exceptionTable(
  kind: Exception['kind'],
  exceptions: readonly Exception[],
  rows: readonly Row[],
): string[] {
  const own = exceptions.filter((exception) => exception.kind === kind);
  if (own.length === 0) return [];
  const named = (id: string) => `${id} (${rows.find((row) => row.id === id)?.level})`;
  return [
    `## ${titles[kind]}`,
    '',
    '| rows | why |',
    '|---|---|',
    ...own.map(({ ids, reason }) => `| ${ids.map(named).join(', ')} | ${reason} |`),
    '',
  ];
}

const isExcepted = (exceptions: readonly Exception[], id: string) =>
  exceptions.some(({ ids }) => ids.includes(id));

function total(
  level: Level,
  rows: readonly Row[],
  exceptions: readonly Exception[],
  evidence: EvidenceByRow,
): string {
  const own = rows.filter((row) => row.level === level);
  const covered = own.filter(({ id }) => evidence.has(id)).length;
  const excepted = own.filter(({ id }) => !evidence.has(id) && isExcepted(exceptions, id)).length;
  return `| ${level} | ${own.length} | ${covered} | ${excepted} | ${own.length - covered - excepted} |`;
}

function line(
  { id, level, text }: Row,
  exceptions: readonly Exception[],
  evidence: readonly Evidence[],
): string {
  const firsts = evidence.filter(
    ({ file }, index) => evidence.findIndex((other) => other.file === file) === index,
  );
  const shown = firsts.map(({ file, title }) => `[${name(file)}](../../${file}): ${cell(title)}`);
  const why = isExcepted(exceptions, id) ? 'an exception, see above' : '–';
  return `| ${id} | ${level} | ${cell(text)} | ${shown.join('<br>') || why} |`;
}

/** `client/connection/errors` for `packages/client/test/connection/errors.test.ts`. */
const name = (file: string) =>
  file
    .replace(/^(packages|apps)\//, '')
    .replace(/(^|\/)test\//, '$1')
    .replace(/\.test\.ts$/, '');

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
