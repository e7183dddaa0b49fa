import { type State, type TaskView, viewTask } from '@batonjs/lifecycle';
import { weigh } from '@batonjs/lifecycle/internals';
import type { Message, Task } from '@batonjs/protocol';

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
  // A view repeats at most the message of the status: most tasks need not be weighed again.
  return 2 * state.weight <= bytes ? task : fitTask(task, bytes).task;
}

/**
 * Leaves out what does not fit into `bytes`: the oldest messages of `history` first, then all artifacts, then the message
 * of the status. Names them in `metadata`, under `OMITTED`: `history`, `artifacts`, `status.message`. Spec: §3.2.4.
 */
export function fitTask(task: Task, bytes: number): Fitted {
  const whole = weigh(task);
  if (whole <= bytes) return { task, weight: whole };
  const { status, artifacts, history, ...rest } = task;
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
  const fitted: Task = {
    ...rest,
    status: keptStatus,
    ...keptArtifacts,
    ...(keptHistory.length > 0 && { history: keptHistory }),
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
