import type { Task, TimelineEntry } from '@batonjs/protocol';
import { isObject } from '@batonjs/protocol/json';

/**
 * The timeline of a task, oldest first: what clients sent and the statuses that the task had, each with the generation of
 * the task after it. Values may be missing between entries. Entries of an unknown kind are skipped. Undefined if the task
 * shows none: get it with the extension `GENERATION` active. Spec: §3.2.8 of A2A 1.1, as planned.
 */
export const timelineOf = ({ timeline }: Task): readonly TimelineEntry[] | undefined =>
  timeline?.filter((entry: object) => isObject(Object(entry).message ?? Object(entry).status));
