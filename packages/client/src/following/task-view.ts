import type { Artifact, Message, StreamResponse, Task, TaskStatus } from '@batonjs/protocol';
import type { AgentEvent } from '../replies/agent-reply.ts';

/** A task as the events of its stream tell it. Adding a chunk costs what the chunk has, not what is there. Spec: §3.2.3. */
export class TaskView {
  /** The task so far. It changes with every event: `structuredClone` what you keep. */
  task: Task | undefined;
  /** What was answered instead of a task. */
  message: Message | undefined;

  constructor(task?: Task) {
    if (task) this.apply({ task });
  }

  /** Folds an event. False if it changes nothing, being about another task or of a kind that is not known here. */
  apply(event: StreamResponse): boolean {
    const { task, message, statusUpdate, artifactUpdate } = event as AgentEvent;
    if (task) this.task = own(task);
    else if (message) this.message = message;
    else {
      const update = statusUpdate ?? artifactUpdate;
      if (!update || (this.task && update.taskId && update.taskId !== this.task.id)) return false;
      this.task ??= {
        id: update.taskId,
        contextId: update.contextId,
        status: { state: 'TASK_STATE_UNSPECIFIED' },
      };
      if (statusUpdate) setStatus(this.task, statusUpdate.status);
      else if (artifactUpdate) addArtifact(this.task, artifactUpdate.artifact, artifactUpdate.append);
    }
    return true;
  }
}

/** The task after an event; the one before is left as it is. Costs a copy: fold many events with a {@link TaskView}. */
export function applyEvent(task: Task | undefined, event: StreamResponse): Task | undefined {
  const view = new TaskView(task);
  view.apply(event);
  return view.task;
}

/** A copy whose lists are ours to add to. */
const own = ({ history, artifacts, ...task }: Task): Task => ({
  ...task,
  ...(artifacts && {
    artifacts: artifacts.map((artifact) => ({ ...artifact, parts: [...(artifact.parts ?? [])] })),
  }),
  ...(history && { history: [...history] }),
});

/** What the agent said before becomes part of the conversation. */
function setStatus(task: Task, status: TaskStatus): void {
  const { message } = task.status;
  const isRepeated = message?.messageId === status.message?.messageId;
  if (message && !isRepeated && !task.history?.some(({ messageId }) => messageId === message.messageId)) {
    task.history = [...(task.history ?? []), message];
  }
  task.status = status;
}

function addArtifact(task: Task, artifact: Artifact, append = false): void {
  task.artifacts ??= [];
  const { parts, ...about } = artifact;
  const index = task.artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId);
  const known = task.artifacts[index];
  if (known && append) {
    Object.assign(known, about);
    for (const part of parts) known.parts.push(part);
  } else task.artifacts.splice(known ? index : task.artifacts.length, 1, { ...artifact, parts: [...parts] });
}
