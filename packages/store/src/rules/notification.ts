import type { Topic } from '../port/task-store.ts';

/** A topic whose subscribers are notified once a change is stored. `version`: the new length of a task's log. */
export type Notification = Topic & { readonly version?: number };
