/** A fact of a task's log, as its store has it. */
export interface LogEntry {
  /** Its position in the log, from 1. */
  readonly version: number;
  readonly fact: { readonly type: string; readonly at: string };
}

/** The most characters of one entry, which the stack of an error or a long text would exceed. */
const mostCharacters = 1_500;

/** Members of facts that are secrets, or of no help. */
const hidden: ReadonlySet<string> = new Set([
  'secretHash',
  'token',
  'credentials',
  'authentication',
  'record',
  'format',
]);

/** One line for each entry: position, time, type, and its members as JSON. */
export const timelineOf = (entries: readonly LogEntry[]): string => entries.map(lineOf).join('\n');

function lineOf({ version, fact: { type, at, ...members } }: LogEntry): string {
  const text = JSON.stringify(withoutSecret(type, members), (key, value) =>
    hidden.has(key) ? undefined : value,
  );
  const shown = text === '{}' ? '' : ` ${text}`;
  const cut = shown.length > mostCharacters ? `${shown.slice(0, mostCharacters)}…` : shown;
  return `#${version} ${at} ${type}${cut}`;
}

/** Packages of Baton keep secrets in steps whose names begin with their own. */
function withoutSecret(type: string, members: object): object {
  const { name } = members as { name?: unknown };
  const isOwn = type === 'step-completed' && typeof name === 'string' && name.startsWith('@batonjs/');
  return isOwn ? { ...members, result: undefined } : members;
}
