import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exceptions } from './exceptions.ts';

export type Level = 'MUST' | 'SHOULD' | 'MAY' | 'REC' | 'INFO';

/** One requirement, in our own words. */
export interface Row {
  readonly id: string;
  readonly level: Level;
  readonly text: string;
}

/** Rows about one thing. */
export interface Area {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** Rows that no test covers, and why that is right. */
export interface Exception {
  readonly kind: 'not shipped' | 'not for code';
  readonly ids: readonly string[];
  readonly reason: string;
}

export interface Checklist {
  readonly areas: readonly Area[];
  readonly exceptions: readonly Exception[];
}

/** Every row of the checklist, and the rows that need no test. */
export const checklist = (): Checklist => ({
  areas: parseRows(readFileSync(join(import.meta.dirname, 'rows.txt'), 'utf8')),
  exceptions,
});

/** Reads `# area` and `id level text` lines. Throws on any other line, and on an id that is there twice. */
export function parseRows(text: string): Area[] {
  const areas: { title: string; rows: Row[] }[] = [];
  const known = new Set<string>();
  for (const line of text.split('\n').filter(Boolean)) {
    if (line.startsWith('# ')) {
      areas.push({ title: line.slice(2), rows: [] });
      continue;
    }
    const found = /^(R-[A-Z0-9]+-\d+) (MUST|SHOULD|MAY|REC|INFO) (.+)$/.exec(line);
    const area = areas.at(-1);
    if (!found || !area) throw new SyntaxError(`Not a row: ${line}`);
    const [, id, level, words] = found as unknown as [string, string, Level, string];
    if (known.has(id)) throw new SyntaxError(`${id} is there twice`);
    known.add(id);
    area.rows.push({ id, level, text: words });
  }
  return areas;
}
