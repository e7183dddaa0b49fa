import { TaskView } from '@batonjs/client';
import type { Message, Task } from '@batonjs/protocol';
import type { Entry } from '../../api/timeline.ts';

/** A task as it was after some of the entries of its timeline. */
export class Replay {
  readonly #view = new TaskView();
  /** Messages that arrived before there was a task. */
  readonly #early: Message[] = [];
  turn = 0;
  /** The trace of the last message: 32 hexadecimal digits. Undefined for one that was not traced. */
  traceId: string | undefined;
  attempt = 0;

  /** The task; undefined before it was created. */
  get task(): Task | undefined {
    return this.#view.task;
  }

  /** The messages that came without a task, and the agent's answer to them. */
  get messages(): readonly Message[] {
    return this.#view.message ? [...this.#early, this.#view.message] : this.#early;
  }

  apply({ fact, event, message, at }: Entry): void {
    if (event) {
      this.#view.apply(event);
      this.#settle();
      return;
    }
    if (message) {
      this.#receive(message);
      return;
    }
    this.#fold(fact, at);
  }

  #fold(fact: Entry['fact'], at: Entry['at']): void {
    switch (fact?.type) {
      case 'message-received':
        this.#receive(fact.message);
        this.traceId = /^00-([\da-f]{32})-/.exec(fact.traceparent ?? '')?.[1];
        return;
      case 'task-created': {
        const { taskId: id, contextId } = fact;
        this.#view.apply({
          task: { id, contextId, status: { state: 'TASK_STATE_SUBMITTED', ...(at && { timestamp: at }) } },
        });
        this.#settle();
        return;
      }
      case 'status-changed':
      case 'artifact-updated': {
        const { id: taskId = '', contextId = '' } = this.#view.task ?? {};
        if (fact.type === 'status-changed')
          this.#view.apply({ statusUpdate: { taskId, contextId, status: fact.status } });
        else
          this.#view.apply({
            artifactUpdate: { taskId, contextId, artifact: fact.artifact, append: fact.append },
          });
        return;
      }
      case 'answered':
        this.#view.apply({ message: fact.message });
        return;
      case 'turn-started':
        this.turn = fact.turn;
        this.attempt = fact.attempt;
        return;
      case 'message-taken':
      case 'turn-ended':
      case 'woken':
      case 'wake-set':
      case 'cancel-requested':
      case 'step-completed':
      case 'step-failed':
      case 'turn-failed':
      case 'turn-paused':
      case 'memory-changed':
      case 'labels-set':
      case 'callback-opened':
      case 'callback-received':
      case 'child-updated':
      case undefined:
        return;
      default:
        fact satisfies never;
    }
  }

  #receive(message: Message): void {
    const { task } = this.#view;
    if (!task) this.#early.push(message);
    else if (!task.history?.some(({ messageId }) => messageId === message.messageId))
      task.history = [...(task.history ?? []), message];
  }

  /** Moves the messages that came before the task into its history. */
  #settle(): void {
    const { task } = this.#view;
    if (!task || this.#early.length === 0) return;
    for (const message of this.#early.splice(0)) this.#receive(message);
  }
}
