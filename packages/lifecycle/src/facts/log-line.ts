/** One line that an agent logged, as it is kept. */
export interface LogLine {
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
  /** As JSON. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** It was longer: only the beginning of its text is kept, or not its fields. */
  readonly isCut?: true;
}
