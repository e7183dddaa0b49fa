import type { Artifact as TheirArtifact, TaskStatus as TheirStatus, Task as TheirTask } from '@a2a-js/sdk';
import type { AgentExecutionEvent } from '@a2a-js/sdk/server';
import type { Task, TaskUpdate, Turn } from '@batonjs/server';
import { toArtifact, toMessage, toState } from './convert.ts';

type Status = Task['status'];

/** Converts the events of one execution to updates. Throws `TypeError` for an event of another task. */
export function updatesFrom({ taskId, task }: Turn): (event: AgentExecutionEvent) => TaskUpdate[] {
  let status: Pick<Status, 'state' | 'message'> | undefined = task?.status;
  const artifacts = new Map(
    (task?.artifacts ?? []).map((known) => [known.artifactId, JSON.stringify(known)]),
  );

  return (event) => {
    const id = event.kind === 'task' ? event.data.id : event.data.taskId;
    if (id && id !== taskId) throw new TypeError(`The executor published an event of the task ${id}`);
    switch (event.kind) {
      case 'task':
        return ofTask(event.data);
      case 'statusUpdate':
        return ofStatus(event.data.status, event.data.metadata);
      case 'artifactUpdate': {
        const { artifact, append, lastChunk, metadata } = event.data;
        return ofArtifact(artifact, { append, lastChunk, metadata });
      }
      default: {
        // Once there is a task, a message becomes the message of its status.
        const next = { state: status?.state ?? 'TASK_STATE_WORKING', message: toMessage(event.data) };
        return moveTo(next);
      }
    }
  };

  /** The updates for what changed in a whole task. Ignores its history, which the server keeps itself. */
  function ofTask({ status: theirs, artifacts: all }: TheirTask): TaskUpdate[] {
    const changed = all.filter((artifact) => {
      const newer = JSON.stringify(toArtifact(artifact));
      return artifacts.get(artifact.artifactId) !== newer;
    });
    return [
      ...(status ? [] : moveTo({ state: 'TASK_STATE_SUBMITTED' })),
      ...changed.flatMap((artifact) => ofArtifact(artifact, {})),
      ...ofStatus(theirs),
    ];
  }

  function ofStatus(theirs: TheirStatus | undefined, metadata?: Record<string, unknown>): TaskUpdate[] {
    if (!theirs) return [];
    const state = toState(theirs.state);
    const message = theirs.message?.parts.length ? toMessage(theirs.message) : undefined;
    const isKnown = state === status?.state && message?.messageId === status.message?.messageId;
    // A task cannot return to SUBMITTED, and a repeated status is not an update.
    const isIgnored = state === 'TASK_STATE_UNSPECIFIED' || (state === 'TASK_STATE_SUBMITTED' && status);
    if (isIgnored || (isKnown && !metadata)) return [];
    return moveTo({ state, ...(message && { message }) }, metadata);
  }

  function moveTo(next: Pick<Status, 'state' | 'message'>, metadata?: Record<string, unknown>): TaskUpdate[] {
    status = next;
    return [{ status: next, ...(metadata && { metadata }) }];
  }

  function ofArtifact(
    theirs: TheirArtifact | undefined,
    {
      append = false,
      lastChunk = false,
      metadata,
    }: { append?: boolean; lastChunk?: boolean; metadata?: Record<string, unknown> | undefined },
  ): TaskUpdate[] {
    if (!theirs) return [];
    const artifact = toArtifact(theirs);
    if (artifact.parts.length === 0) {
      if (!lastChunk) return [];
      artifact.parts.push({ text: '' });
    }
    const isKnown = artifacts.has(artifact.artifactId);
    artifacts.set(artifact.artifactId, append ? '' : JSON.stringify(artifact));
    return [
      {
        artifact,
        // Executors may append to an artifact that does not exist yet. Such a chunk creates it.
        ...(append && isKnown && { append }),
        ...(lastChunk && { lastChunk }),
        ...(metadata && { metadata }),
      },
    ];
  }
}
