import type { Artifact, Message, StreamResponse, Task, TaskStatus } from '@batonjs/protocol';
import type { AgentEvent } from '../replies/agent-reply.ts';
import { ListIndex } from './list-index.ts';

/** Folds the events of a stream into a task. The cost of an event does not grow with the task. Spec: §3.2.3. */
export class TaskView {
  /** The current task. Later events change this object: use `structuredClone` to keep a copy. */
  task: Task | undefined;
  /** The message that the agent sent instead of a task. */
  message: Message | undefined;
  readonly #artifacts = new ListIndex<Artifact>(({ artifactId }) => artifactId);
  readonly #messages = new ListIndex<Message>(({ messageId }) => messageId);

  constructor(task?: Task) {
    if (task) this.apply({ task });
  }

  /** Folds an event. Returns false if the event is members another task or of an unknown kind. */
  apply(event: StreamResponse): boolean {
    const { task, message, statusUpdate, artifactUpdate } = event as AgentEvent;
    if (task) this.task = copyOf(task);
    else if (message) this.message = message;
    else {
      const update = statusUpdate ?? artifactUpdate;
      if (!update || (this.task && update.taskId && update.taskId !== this.task.id)) return false;
      this.task ??= {
        id: update.taskId,
        contextId: update.contextId,
        status: { state: 'TASK_STATE_UNSPECIFIED' },
      };
      if (statusUpdate) this.#setStatus(this.task, statusUpdate.status);
      else if (artifactUpdate) this.#addArtifact(this.task, artifactUpdate.artifact, artifactUpdate.append);
      if (update.generation) this.task.generation = update.generation;
    }
    return true;
  }

  /** Sets the status and moves the message of the previous one to the history, unless the history contains it. */
  #setStatus(task: Task, status: TaskStatus): void {
    const { message } = task.status;
    const isRepeated = message?.messageId === status.message?.messageId;
    if (message && !isRepeated && this.#messages.of(task.history ?? [], message.messageId) === -1)
      task.history = [...(task.history ?? []), message];
    task.status = status;
  }

  #addArtifact(task: Task, artifact: Artifact, append = false): void {
    task.artifacts ??= [];
    const { parts, ...members } = artifact;
    const index = this.#artifacts.of(task.artifacts, artifact.artifactId);
    const known = task.artifacts[index];
    if (known && append) {
      Object.assign(known, members);
      for (const part of parts) known.parts.push(part);
    } else task.artifacts[known ? index : task.artifacts.length] = { ...artifact, parts: [...parts] };
  }
}

/** The task after an event. Copies the task instead of changing it: use a {@link TaskView} to fold many events. */
export function applyEvent(task: Task | undefined, event: StreamResponse): Task | undefined {
  const view = new TaskView(task);
  view.apply(event);
  return view.task;
}

/** Copies the lists, which later events change. */
const copyOf = ({ history, artifacts, ...task }: Task): Task => ({
  ...task,
  ...(artifacts && {
    artifacts: artifacts.map((artifact) => ({ ...artifact, parts: [...(artifact.parts ?? [])] })),
  }),
  ...(history && { history: [...history] }),
});
