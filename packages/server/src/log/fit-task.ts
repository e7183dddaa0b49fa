import { SharedJson } from '@batonjs/bindings';
import { type State, type TaskView, toStreamResponse, viewTask } from '@batonjs/lifecycle';
import { weigh } from '@batonjs/lifecycle/internals';
import type { Message, Task } from '@batonjs/protocol';
import type { StoredFact } from '@batonjs/store';
import type { LiveTask } from './live-task.ts';
import type { StreamEvent } from './recent-facts.ts';

/** The member of a task's `metadata` that lists its omitted members, because a reply has a limit. */
const OMITTED = 'https://batonjs.dev/a2a/omitted';

/** A task that may have been cut, and its weight in bytes, as `weigh` estimates them. */
export interface Fitted {
  readonly task: Task;
  readonly weight: number;
}

/** The task as clients see it, in about `bytes` bytes: see `fitTask`. */
export function viewWithin(state: State, view: TaskView, bytes: number): Task {
  const task = viewTask(state, view);
  // A view repeats at most the message of the status, and a timeline all of them: most tasks need not be weighed again.
  return (view.timeline ? 4 : 2) * state.weight <= bytes ? task : fitTask(task, bytes).task;
}

/**
 * Leaves out what does not fit into `bytes`: the timeline, then the oldest messages of `history`, then all artifacts, then
 * the message of the status. Names them in `metadata`, under `OMITTED`: `timeline`, `history`, `artifacts`,
 * `status.message`. Spec: §3.2.4.
 */
export function fitTask(task: Task, bytes: number): Fitted {
  const whole = weigh(task);
  if (whole <= bytes) return { task, weight: whole };
  const { status, artifacts, history, timeline, ...rest } = task;
  const { message, ...bare } = status;
  const omitted: string[] = [];
  let left = bytes - weigh({ ...rest, status: bare });
  /** Counts a member if it still fits. */
  const fits = (name: string, member: object | undefined): boolean => {
    if (!member) return false;
    const weight = weigh(member);
    if (weight > left) {
      omitted.push(name);
      return false;
    }
    left -= weight;
    return true;
  };
  const keptStatus = fits('status.message', message) ? status : bare;
  const keptArtifacts = fits('artifacts', artifacts) ? { artifacts } : {};
  const keptHistory = newest(history ?? [], left);
  if (keptHistory.length < (history?.length ?? 0)) omitted.push('history');
  for (const message of keptHistory) left -= weigh(message);
  const keptTimeline = fits('timeline', timeline) ? { timeline } : {};
  const fitted: Task = {
    ...rest,
    status: keptStatus,
    ...keptArtifacts,
    ...(keptHistory.length > 0 && { history: keptHistory }),
    ...keptTimeline,
    metadata: { ...rest.metadata, [OMITTED]: omitted },
  };
  return { task: fitted, weight: weigh(fitted) };
}

/** The newest messages that fit into `bytes` together. */
function newest(history: Message[], bytes: number): Message[] {
  let left = bytes;
  let from = history.length;
  while (from > 0) {
    left -= weigh(history[from - 1]!);
    if (left < 0) break;
    from--;
  }
  return history.slice(from);
}

/** The event that streams send for a fact; undefined if clients do not get it. */
export const eventOf = (live: LiveTask, origin: string, stored: StoredFact): StreamEvent | undefined =>
  live.recent.shared(stored, () => {
    const { version, commitId, fact } = stored;
    const event = toStreamResponse({ id: live.taskId, contextId: live.state.contextId }, fact);
    return event && { id: idOf(origin, version, commitId), event: new SharedJson(event) };
  });

/** The event with the whole task as it is in `state`, in about `bytes` bytes of JSON. */
export const taskEvent = (
  live: LiveTask,
  state: State,
  origin: string,
  view: TaskView,
  bytes: number,
): StreamEvent => ({
  id: idOf(origin, state.version, live.commitIdAt(state.version)),
  event: new SharedJson({ task: viewWithin(state, view, bytes) }),
});

/** A position that a client names in `Last-Event-ID`. */
export interface Position {
  readonly version: number;
  /** Whether this is the commit that the log held there when the event was sent. */
  readonly isOf: (commitId: string) => boolean;
}

/**
 * `<origin>.<version>~<mark>`: `origin` tells this log from another that had the same task id before, `mark` tells the
 * commit at the position from another that took its place after the store lost it.
 */
const idOf = (origin: string, version: number, commitId: string | undefined): string =>
  `${origin}.${version}${commitId === undefined ? '' : `~${markOf(commitId)}`}`;

/** The position that an id names in the log of this origin, or undefined if it names none. */
export function positionIn(origin: string, id: string): Position | undefined {
  const dot = id.lastIndexOf('.');
  const [, digits, mark] = /^(\d{1,15})~([0-9a-z]{1,7})$/.exec(id.slice(dot + 1)) ?? [];
  if (id.slice(0, dot) !== origin || digits === undefined) return undefined;
  return { version: Number(digits), isOf: (commitId) => markOf(commitId) === mark };
}

/** A hash of 32 bits (FNV-1a): enough to tell a commit from the few that can ever take its position. */
function markOf(text: string): string {
  let mark = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    mark = Math.imul(mark ^ text.charCodeAt(index), 0x01000193);
  return (mark >>> 0).toString(36);
}
