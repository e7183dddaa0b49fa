import type { TaskState } from '@batonjs/protocol';

export const stateName = (state: TaskState | string): string =>
  state
    .replace('TASK_STATE_', '')
    .toLowerCase()
    .replace(/_/g, ' ')
    .replace(/^./, (letter) => letter.toUpperCase());

/** The text beside the name of a state: empty where it is only that name again, as in `Completed COMPLETED`. */
export const saidBeside = (state: TaskState | string, text = ''): string =>
  stateName(text.trim()) === stateName(state) ? '' : text;

/** The part of a state's CSS class. */
export const stateClass = (state: TaskState | string): string =>
  state.replace('TASK_STATE_', '').toLowerCase().replace(/_/g, '-');

/** Whether a task never changes again. */
export const isTerminalState = (state: TaskState | string): boolean =>
  /_(COMPLETED|FAILED|CANCELED|REJECTED)$/.test(state);

/** A span of time: `340 ms`, `2.4 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`;
}

const two = (n: number) => String(n).padStart(2, '0');
const secondOf = (at: Date) => `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;

/** A time of day with milliseconds, of 24 hours as all times of the app. */
export function clockTime(iso: string): string {
  const at = new Date(iso);
  return `${secondOf(at)}.${String(at.getMilliseconds()).padStart(3, '0')}`;
}

/** A time in seconds: `14:05:09` today, `26 Nov 2026 14:05:09` on another day. */
export function dateTime(iso: string, now = new Date()): string {
  const at = new Date(iso);
  return at.toDateString() === now.toDateString() ? secondOf(at) : `${date(at)} ${secondOf(at)}`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

// By hand: the first date that the browser writes takes it as long as a whole page.
const date = (at: Date): string => `${at.getDate()} ${months[at.getMonth()]} ${at.getFullYear()}`;

/** The name of a turn or a step, with its attempt after the first one. */
export const attemptName = (what: string, attempt: number): string =>
  attempt > 1 ? `${what}, attempt ${attempt}` : what;

/** A number: `2,000`. */
export const counted = (count: number): string => count.toLocaleString('en');

/** A number of things: `1 task`, `2,000 tasks`. */
export const plural = (count: number, one: string, several = `${one}s`): string =>
  `${counted(count)} ${count === 1 ? one : several}`;

/** How long ago: `now`, `4 min ago`, `yesterday`; the date when it is long ago. */
export function ago(iso: string, now: number): string {
  const ms = now - Date.parse(iso);
  if (Number.isNaN(ms)) return '';
  if (ms < 5_000) return 'now';
  return ms < 86_400_000 ? `${roughly(ms)} ago` : date(new Date(iso));
}

/** How long until then: `in 4 min`; `now` once it is so far. */
export function until(iso: string, now: number): string {
  const ms = Date.parse(iso) - now;
  return ms < 1_000 ? 'now' : `in ${roughly(ms)}`;
}

/** A span of time in its largest unit. */
function roughly(ms: number): string {
  if (ms < 60_000) return `${Math.floor(ms / 1_000)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`;
  return ms < 86_400_000 ? `${Math.floor(ms / 3_600_000)} h` : `${Math.floor(ms / 86_400_000)} d`;
}

export const fileSize = (bytes: number): string =>
  bytes < 1_024
    ? `${bytes} bytes`
    : bytes < 1_048_576
      ? `${(bytes / 1_024).toFixed(1)} kB`
      : `${(bytes / 1_048_576).toFixed(1)} MB`;

/** An id that fits into a row: its beginning and its end. */
export const shortId = (id: string): string => (id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-8)}` : id);

export const oneLine = (text: string, most = 160): string => {
  const line = text
    .slice(0, most * 2)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
};
