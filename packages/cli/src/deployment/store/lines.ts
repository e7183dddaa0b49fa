import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { StoredTask, Transfer } from '@batonjs/store/rules';
import { CliError } from '../../errors/cli-error.ts';
import type { KeyedFact } from './read-store.ts';

/** The format of the lines that this release writes. */
export const format = 1;

/** Longer lines are neither written nor read, in bytes. */
export const longestLine = 64 * 1024 * 1024;

export type RecordRow = Awaited<ReturnType<Transfer['records']>>[number];

export interface Counts {
  readonly tasks: number;
  readonly facts: number;
  readonly records: number;
}

/** One line of a file. The lines of a task follow each other: its facts come after it. */
export type Line =
  /** The first one. `callers`: the scopes that it is of; absent: all. */
  | {
      readonly store: {
        readonly format: number;
        readonly from: string;
        readonly at: string;
        readonly callers?: readonly string[] | undefined;
        readonly withoutSecrets?: boolean | undefined;
      };
    }
  | { readonly task: StoredTask }
  | { readonly facts: readonly KeyedFact[] }
  | { readonly record: RecordRow }
  /** Tasks of pages before this one are complete; an export goes on here. Absent: records follow. */
  | { readonly page: string | null }
  /** The last one. */
  | { readonly end: Counts };

/** A line that was read, and where it ends in the file. */
export interface ReadLine {
  readonly line: Line;
  readonly number: number;
  readonly end: number;
  readonly sum: string;
}

/** The checksum of a line depends on all lines before it: a line that is missing or moved shows like one that is damaged. */
const sumOf = (before: string, body: string): string =>
  createHash('sha256').update(before).update(body).digest('hex').slice(0, 32);

/** Makes lines, with their checksums. */
export class LineWriter {
  sum: string;

  /** `sum`: that of the line before. */
  constructor(sum = '') {
    this.sum = sum;
  }

  text(line: Line): string {
    const body = JSON.stringify(line);
    if (body.length > longestLine / 3 && Buffer.byteLength(body) > longestLine - 100)
      throw new CliError('A2ACLI_ERR_INTERNAL', `A line would be longer than ${longestLine} bytes`);
    this.sum = sumOf(this.sum, body);
    return `{"sum":"${this.sum}","is":${body}}\n`;
  }
}

/** An error about a line of a file. */
export const ofLine = (number: number, why: string): CliError =>
  new CliError('A2ACLI_ERR_USAGE', `Line ${number} ${why}`, 'Nothing was written');

/** The lines of a file, each checked. Throws, naming it, for one that is damaged or too long; the last one may lack its end. */
export async function* readLines(path: string): AsyncGenerator<ReadLine> {
  let sum = '';
  let number = 0;
  let end = 0;
  for await (const bytes of cut(path)) {
    number++;
    end += bytes.length + 1;
    if (bytes.length > longestLine) throw ofLine(number, `is longer than ${longestLine} bytes`);
    const [, kept, body = ''] = /^\{"sum":"([0-9a-f]{32})","is":(.*)\}$/s.exec(String(bytes)) ?? [];
    sum = sumOf(sum, body);
    if (kept !== sum) throw ofLine(number, 'is damaged, or a line before it is missing');
    yield { line: JSON.parse(body), number, end, sum };
  }
}

/** The bytes of each line. A line that is too long is given as far as it was read, and is the last one. */
async function* cut(path: string): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let length = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      yield Buffer.concat([...pieces, chunk.subarray(from, at)]);
      pieces = [];
      length = 0;
      from = at + 1;
    }
    pieces.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > longestLine) break;
  }
  if (length > 0) yield Buffer.concat(pieces);
}

/** The lines of a whole file, which has to be complete, and of a format that this release reads. */
export async function* wholeFile(path: string): AsyncGenerator<Line> {
  const counted = { tasks: 0, facts: 0, records: 0 };
  let left = 0;
  let last = 0;
  let isEnded = false;
  for await (const { line, number } of readLines(path)) {
    last = number;
    if ((number === 1) !== 'store' in line) throw ofLine(number, 'is not the one that is expected there');
    if ('store' in line && line.store.format !== format)
      throw ofLine(
        number,
        `says that the file has format ${line.store.format}: this release reads ${format}`,
      );
    if (isEnded || (left > 0 && !('facts' in line)))
      throw ofLine(number, 'stands where none, or facts, should');
    if ('facts' in line) {
      left -= line.facts.length;
      counted.facts += line.facts.length;
    }
    if ('task' in line) {
      left = line.task.row.version;
      counted.tasks++;
    }
    if ('record' in line) counted.records++;
    if (left < 0) throw ofLine(number, 'has facts of no task');
    if ('end' in line) {
      isEnded = true;
      if (JSON.stringify(line.end) !== JSON.stringify(counted)) throw ofLine(number, 'counts other lines');
    }
    yield line;
  }
  if (!isEnded) throw ofLine(last + 1, 'is missing: the file ends too early');
}
