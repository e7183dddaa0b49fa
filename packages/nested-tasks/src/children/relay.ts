import type { AgentEvent } from '@batonjs/client';
import type { Task } from '@batonjs/protocol';
import { type TaskUpdate, working } from '@batonjs/server';

/**
 * Says what of an event of a child becomes an update of the parent. `task` is the child after the event. Messages of
 * statuses that were passed on before are left out of both. The call passes on questions, and returns the end.
 */
export type Relay = (event: AgentEvent, task: Task) => TaskUpdate | readonly TaskUpdate[] | undefined;

/** Passes on the messages with which the child reports progress. */
export const relayProgress: Relay = ({ task, statusUpdate }) => {
  const { state, message } = (task ?? statusUpdate)?.status ?? {};
  return state === 'TASK_STATE_WORKING' && message?.parts.length ? working(message) : undefined;
};

/** Passes on progress and artifacts. */
export const relayAll: Relay = (event, task) => {
  const artifacts = (event.task?.artifacts ?? []).map((artifact): TaskUpdate => ({ artifact }));
  if (event.artifactUpdate) {
    const { artifact, append, lastChunk } = event.artifactUpdate;
    artifacts.push({ artifact, ...(append && { append }), ...(lastChunk && { lastChunk }) });
  }
  const progress = relayProgress(event, task) as TaskUpdate | undefined;
  return progress ? [...artifacts, progress] : artifacts;
};
