import type { Io } from '../io.ts';
import { cleanLine, cleanText } from './clean.ts';
import { jsonText } from './json-text.ts';
import type { ProgressLine } from './progress-line.ts';
import type { Redactor } from './redactor.ts';

/** Writes results to standard output and everything else to standard error. */
export class Output {
  readonly #io: Pick<Io, 'stdout' | 'stderr'>;
  readonly #redactor: Redactor;
  readonly #isDebug: boolean;
  readonly format: 'text' | 'json';
  /** Whether a person asked for everything. */
  readonly isVerbose: boolean;
  /** One JSON document per line. */
  isStreaming = false;
  /** The line on standard error that is drawn while nothing is written to standard output. */
  progress: ProgressLine | undefined;

  constructor(
    io: Pick<Io, 'stdout' | 'stderr'>,
    redactor: Redactor,
    { format, isDebug, isVerbose }: { format: 'text' | 'json'; isDebug: boolean; isVerbose: boolean },
  ) {
    this.#io = io;
    this.#redactor = redactor;
    this.format = format;
    this.#isDebug = isDebug;
    this.isVerbose = isVerbose;
  }

  get isJson(): boolean {
    return this.format === 'json';
  }

  /** One `Label: value` line. Line breaks and control characters of the value are replaced. */
  field(label: string, value: string | number | boolean): void {
    this.#write(`${label}: ${cleanLine(String(value))}\n`);
  }

  /** A label, the content indented by two spaces, and an empty line: content may have empty lines of its own. */
  block(label: string, content: string): void {
    const lines = cleanText(content).split('\n');
    this.#write(`${label}:\n${lines.map((line) => (line === '' ? '' : `  ${line}`)).join('\n')}\n\n`);
  }

  /** The one document of a command, or one line of several. */
  json(value: unknown): void {
    this.#write(`${jsonText(value, this.isStreaming)}\n`);
  }

  /** What a command found: the document in JSON, else a line for each field. */
  result(document: unknown, fields: readonly (readonly [string, string | number | boolean])[]): void {
    if (this.isJson) this.json(document);
    else this.fields(fields);
  }

  fields(fields: readonly (readonly [string, string | number | boolean])[]): void {
    for (const [label, value] of fields) this.field(label, value);
  }

  /** Text that is the result itself, such as a script. */
  raw(text: string): void {
    this.#write(text);
  }

  /** What to do next: a field, or a note beside the document. */
  advise(label: string, line: string): void {
    if (this.isJson) this.note(`${label}: ${line}`);
    else this.field(label, line);
  }

  /** A line for people on standard error. */
  note(text: string): void {
    this.progress?.erase();
    this.#io.stderr.write(`${cleanLine(this.#redactor.redact(text))}\n`);
    this.progress?.draw();
  }

  warn(text: string): void {
    this.note(`Warning: ${text}`);
  }

  /** A line about what this tool does, with `--debug`. */
  debug(text: string): void {
    if (this.#isDebug) this.note(`debug: ${text}`);
  }

  #write(text: string): void {
    this.#io.stdout.write(text);
  }
}
