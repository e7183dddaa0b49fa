import type { Progress } from '@batonjs/extensions/client';
import type { Io } from '../io.ts';
import { cleanLine, cleanText } from './clean.ts';
import { jsonText } from './json-text.ts';

export type Output = ReturnType<typeof outputTo>;

/** Writes results to standard output and everything else to standard error. */
export function outputTo(
  { stdout, stderr }: Pick<Io, 'stdout' | 'stderr'>,
  redactor: Redactor,
  options: { readonly output: 'text' | 'json'; readonly debug?: boolean; readonly verbose?: boolean },
) {
  const write = (text: string): void => void stdout.write(text);
  const output = {
    isJson: options.output === 'json',
    /** Whether a person asked for everything. */
    isVerbose: options.verbose ?? false,
    /** One JSON document per line. */
    isStreaming: false,
    /** The line on standard error that is drawn while nothing is written to standard output. */
    progress: undefined as ProgressLine | undefined,
    /** One `Label: value` line. Line breaks and control characters of the value are replaced. */
    field: (label: string, value: string | number | boolean): void =>
      write(`${label}: ${cleanLine(String(value))}\n`),
    /** A label, the content indented by two spaces, and an empty line: content may have empty lines of its own. */
    block(label: string, content: string): void {
      const lines = cleanText(content).split('\n');
      write(`${label}:\n${lines.map((line) => (line === '' ? '' : `  ${line}`)).join('\n')}\n\n`);
    },
    /** The one document of a command, or one line of several. */
    json: (value: unknown): void => write(`${jsonText(value, output.isStreaming)}\n`),
    /** What a command found: the document in JSON, else a line for each field. */
    result: (document: unknown, fields: readonly (readonly [string, string | number | boolean])[]): void =>
      output.isJson ? output.json(document) : output.fields(fields),
    fields(fields: readonly (readonly [string, string | number | boolean])[]): void {
      for (const [label, value] of fields) output.field(label, value);
    },
    /** Text that is the result itself, such as a script. */
    raw: write,
    /** What to do next: a field, or a note beside the document. */
    advise: (label: string, line: string): void =>
      output.isJson ? output.note(`${label}: ${line}`) : output.field(label, line),
    /** A line for people on standard error. */
    note(text: string): void {
      output.progress?.erase();
      stderr.write(`${cleanLine(redactor.redact(text))}\n`);
      output.progress?.draw();
    },
    warn: (text: string): void => output.note(`Warning: ${text}`),
    /** A line about what this tool does, with `--debug`. */
    debug(text: string): void {
      if (options.debug) output.note(`debug: ${text}`);
    },
  };
  return output;
}

/** The text in a colour of the terminal, where the person wants colours. */
export const coloured = ({ NO_COLOR, TERM }: Io['env'], code: number, text: string): string =>
  NO_COLOR || TERM === 'dumb' ? text : `\u001b[${code}m${text}\u001b[0m`;

const frames = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const barWidth = 24;
const frameMs = 100;

/** Whether a person watches standard error at a terminal that obeys. */
export const mayDraw = ({ stderr, env }: Pick<Io, 'stderr' | 'env'>): boolean =>
  stderr.isTTY === true && env.TERM !== 'dumb';

/** One line on standard error that is drawn over itself: a bar where the progress is known, else a spinner. */
export class ProgressLine {
  readonly #io: Pick<Io, 'stderr' | 'env'>;
  #timer: NodeJS.Timeout | undefined;
  #frame = 0;
  #text = '';
  #progress: Progress | undefined;
  #isDrawn = false;

  constructor(io: Pick<Io, 'stderr' | 'env'>) {
    this.#io = io;
  }

  start(): void {
    this.#timer ??= setInterval(() => {
      this.#frame += 1;
      this.draw();
    }, frameMs).unref();
    this.draw();
  }

  update(text: string, progress?: Progress): void {
    this.#text = text;
    this.#progress = progress;
    this.draw();
  }

  draw(): void {
    if (!this.#timer) return;
    this.#isDrawn = true;
    this.#io.stderr.write(`\r\u001b[2K${this.#line()}`);
  }

  /** Takes the line away. It comes back with the next frame. */
  erase(): void {
    if (!this.#isDrawn) return;
    this.#isDrawn = false;
    this.#io.stderr.write('\r\u001b[2K');
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.erase();
  }

  #line(): string {
    const { env, stderr } = this.#io;
    const width = Math.max(10, (stderr.columns ?? 80) - barWidth - 10);
    const text = cleanLine(this.#text).slice(0, width);
    if (!this.#progress || this.#progress.total === 0)
      return `${coloured(env, 36, frames[this.#frame % frames.length]!)} ${text}`;
    const share = this.#progress.progress / this.#progress.total;
    const filled = Math.round(share * barWidth);
    const bar = coloured(env, 36, '█'.repeat(filled)) + '░'.repeat(barWidth - filled);
    return `${bar} ${String(Math.round(share * 100)).padStart(3)} % ${text}`;
  }
}

/**
 * Takes secrets out of text for people: the values that are known, wherever they stand. They are found as they are, in
 * JSON, percent-encoded by any rule, and inside of Base64, as in `Authorization: Basic`.
 */
export class Redactor {
  readonly #secrets = new Set<string>();
  #pattern: RegExp | undefined;

  /** From now on, this value is not shown. Also not as a part of a URL or of a cookie. */
  hide(secret: string | undefined): void {
    if (!secret) return;
    this.#secrets.add(secret);
    // Longer ones first: a secret may contain another one.
    const secrets = [...this.#secrets].sort((one, other) => other.length - one.length);
    const patterns = [...secrets.map(plainPattern), ...secrets.flatMap(base64Patterns)];
    this.#pattern = new RegExp(patterns.join('|'), 'g');
  }

  redact(text: string): string {
    return this.#pattern ? text.replaceAll(this.#pattern, '[redacted]') : text;
  }
}

/** Each character as it is, as JSON escapes it, or percent-encoded: encoders do not agree which characters need it. */
const plainPattern = (secret: string): string =>
  [...secret]
    .map((character) => {
      const bytes = [...Buffer.from(character)].map((byte) => byte.toString(16).padStart(2, '0'));
      const encoded = bytes.map(
        (hex) => `%${hex.replaceAll(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)}`,
      );
      const forms = [literal(character), literal(JSON.stringify(character).slice(1, -1)), encoded.join('')];
      if (character === ' ') forms.push('\\+');
      return `(?:${[...new Set(forms)].join('|')})`;
    })
    .join('');

/** The fewest characters of Base64 that belong to one secret alone. */
const leastBase64 = 8;

/** The characters of Base64 that depend on the secret alone, wherever it begins, and the few around them. */
const base64Patterns = (secret: string): string[] =>
  [0, 1, 2].flatMap((shift) => {
    const text = Buffer.from(`${'-'.repeat(shift)}${secret}`).toString('base64');
    const own = text.slice(shift === 0 ? 0 : 4, -4);
    if (own.length < leastBase64) return [];
    const either = own.replaceAll('+', '[+-]').replaceAll('/', '[/_]');
    return [`[\\w+/-]{0,4}${either}[\\w+/-]{0,4}={0,2}`];
  });

const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
