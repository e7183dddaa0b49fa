import { type AgentEvent, TaskView } from '@batonjs/client';
import type {
  MessageReceived,
  QuestionLink,
  StatusChanged,
  StepFailed,
  TurnFailed,
  TurnStarted,
} from '@batonjs/lifecycle';
import type { Message, Task, TaskStatus } from '@batonjs/protocol';
import type { PartMembers } from '../../api/part-members.ts';
import type { Entry } from '../../api/timeline.ts';
import type { Called } from '../models/totals.ts';
import { oneLine } from '../parts/words.ts';
import { type Asked, type Failure, failureOf, type Logged, loggedOf } from './entry-details.ts';

/** The most failures that are kept: the last ones. */
const mostFailures = 50;

/** A task as it was after some of the entries of its timeline. */
export class Replay {
  readonly #view = new TaskView();
  /** Messages that arrived before there was a task. */
  #early: Message[] = [];
  #answer: Message | undefined;
  /** The ids of the messages in the history: a message counts once. */
  #known: Set<string> | undefined;
  turn = 0;
  /** The trace of the last message: 32 hexadecimal digits. Undefined for one that was not traced. */
  traceId: string | undefined;
  attempt = 0;
  /** How often the agent was started, in all turns. */
  attempts = 0;
  /** What the task is about: what an agent said in a label, else the text of the first message. */
  title: string | undefined;
  /** Without the one that is the title. */
  labels: readonly string[] = [];
  /** What the agent threw, the last one last. Another list after each. */
  failures: readonly Failure[] = [];
  /** What the agent logged, the last lines last. Another list after each entry with lines. */
  logged: readonly Logged[] = [];
  /** What steps called: models and tools. Another list after each. */
  called: readonly Called[] = [];
  /** How many attempts of turns failed or were cut off. */
  lost = 0;
  /** The attempt that runs, and whether it is lost. */
  #attempt: { isLost: boolean } | undefined;
  /** When the task was forked from another one: what it took over has the same time. */
  #forkedAt: string | undefined;
  /** Who was asked by links since the latest message of a client. Another list after each. */
  asked: readonly Asked[] = [];
  /** What the question of the status says that clients do not see. */
  question: StatusChanged['question'];
  /** Who answered by a link, by the id of the message. Another record after each. */
  answeredBy: Readonly<Record<string, string>> = {};
  /** Who sent the first message, as far as the server knows. */
  caller: string | undefined;

  /** The task; undefined before it was created. Later entries change it. */
  get task(): Task | undefined {
    return this.#view.task;
  }

  /** The messages that came without a task, and the agent's answer to them. */
  get messages(): readonly Message[] {
    return this.#answer ? [...this.#early, this.#answer] : this.#early;
  }

  /** A state that later entries of this one do not change. */
  copy(): Replay {
    const { task, turn, traceId, attempt, attempts, title, labels, caller, failures } = this;
    const { asked, answeredBy, logged, called, lost, question } = this;
    const copy = new Replay();
    if (task) copy.#view.apply({ task });
    copy.#early = [...this.#early];
    copy.#answer = this.#answer;
    copy.#attempt = this.#attempt && { ...this.#attempt };
    copy.#forkedAt = this.#forkedAt;
    return Object.assign(copy, {
      turn,
      traceId,
      attempt,
      attempts,
      title,
      labels,
      caller,
      failures,
      logged,
      asked,
      question,
      answeredBy,
      called,
      lost,
    });
  }

  /** Throws for an entry that has another shape than its type says. */
  apply({ seq, fact, event, message, at, call }: Entry): void {
    if (call) this.called = [...this.called, { seq, call, isReused: at === this.#forkedAt }];
    if (event) this.#receive(event as AgentEvent);
    else if (message) this.#say(message);
    else this.#fold(seq, fact, at);
  }

  #receive({ task, message, statusUpdate, artifactUpdate }: AgentEvent): void {
    if (task) {
      this.#view.apply({ task });
      this.#known = undefined;
      this.title ??= titleOf(task.history?.[0]?.parts ?? []);
    } else if (message) this.#answer = readable(message);
    else if (artifactUpdate) this.#view.apply({ artifactUpdate });
    else if (statusUpdate) {
      const { taskId: id = '', contextId = '', status } = statusUpdate;
      this.#view.task ??= { id, contextId, status: { state: 'TASK_STATE_UNSPECIFIED' } };
      this.#setStatus(this.#view.task, status);
    }
    this.#settle();
  }

  #fold(seq: number, fact: Entry['fact'], at: Entry['at']): void {
    switch (fact?.type) {
      case 'message-received':
        this.#received(fact, at);
        return;
      case 'task-created': {
        const { taskId: id, contextId } = fact;
        this.#view.task = {
          id,
          contextId,
          status: { state: 'TASK_STATE_SUBMITTED', ...(at && { timestamp: at }) },
        };
        this.#settle();
        return;
      }
      case 'status-changed':
        this.question = fact.question;
        if (this.task) this.#setStatus(this.task, fact.status);
        return;
      case 'artifact-updated':
        if (this.task) this.#view.apply({ artifactUpdate: { taskId: '', contextId: '', ...fact } });
        return;
      case 'answered':
        this.#answer = readable(fact.message);
        return;
      case 'turn-started':
        this.#start(fact);
        return;
      case 'labels-set':
        this.#label(fact.labels);
        return;
      case 'step-failed':
      case 'turn-failed':
        this.#fail(seq, fact);
        return;
      case 'turn-logged':
        this.logged = [...this.logged, loggedOf(seq, fact)];
        return;
      case 'callback-opened':
        if (fact.answers) this.#ask(fact.answers, fact.expiresAt);
        return;
      case 'turn-ended':
      case 'turn-paused':
        this.#attempt = undefined;
        return;
      case 'message-taken':
      case 'woken':
      case 'wake-set':
      case 'cancel-requested':
      case 'step-completed':
      case 'memory-changed':
      case 'callback-received':
      case 'child-updated':
      case undefined:
        return;
      default:
        fact satisfies never;
    }
  }

  #received(fact: MessageReceived, at: Entry['at']): void {
    this.#say(fact.message);
    this.#answered(fact);
    if (fact.forked) this.#forkedAt = at;
    this.caller ??= nameIn(fact.caller);
    if (fact.labels) this.#label(fact.labels);
    this.traceId = /^00-([\da-f]{32})-/.exec(fact.traceparent ?? '')?.[1];
  }

  #start({ turn, attempt }: TurnStarted): void {
    // The attempt before it was cut off, if nothing ended it.
    this.#lose();
    this.#attempt = { isLost: false };
    this.turn = turn;
    this.attempt = attempt;
    this.attempts += 1;
  }

  #fail(seq: number, fact: StepFailed | TurnFailed): void {
    this.failures = [...this.failures.slice(1 - mostFailures), failureOf(seq, fact)];
    if (fact.type === 'turn-failed' || !fact.retryAt) this.#lose();
    if (fact.type === 'turn-failed') this.#attempt = undefined;
  }

  #lose(): void {
    if (!this.#attempt || this.#attempt.isLost) return;
    this.#attempt.isLost = true;
    this.lost += 1;
  }

  /** A client answers what the status says: the message of the status comes first, as in the history of the server. */
  #say(message: Message): void {
    readable(message);
    this.title ??= titleOf(message.parts);
    const { task } = this;
    if (!task) {
      this.#early.push(message);
      return;
    }
    if (task.status.message) this.#remember(task, task.status.message);
    this.#remember(task, message);
  }

  #ask({ by, assignedBy }: QuestionLink, expiresAt: string): void {
    this.asked = [...this.asked, { by, assignedBy, expiresAt }];
  }

  #answered({ caller, message }: MessageReceived): void {
    this.asked = [];
    const { answeredBy } = caller ?? {};
    if (typeof answeredBy === 'string')
      this.answeredBy = { ...this.answeredBy, [message.messageId]: answeredBy };
  }

  #label(labels: readonly string[]): void {
    const title = labels.find((label) => label.startsWith(titlePrefix));
    if (title) this.title = title.slice(titlePrefix.length).trim();
    this.labels = labels.filter((label) => label !== title);
  }

  #setStatus(task: Task, status: TaskStatus): void {
    if (status.message) readable(status.message);
    const { message } = task.status;
    if (message && message.messageId !== status.message?.messageId) this.#remember(task, message);
    task.status = status;
  }

  #remember(task: Task, message: Message): void {
    task.history ??= [];
    this.#known ??= new Set(task.history.map(({ messageId }) => messageId));
    if (this.#known.has(message.messageId)) return;
    this.#known.add(message.messageId);
    task.history.push(message);
  }

  /** Moves the messages that came before the task into its history. */
  #settle(): void {
    const { task } = this;
    if (task) for (const message of this.#early.splice(0)) this.#remember(task, message);
  }
}

/** What the label begins with by which an agent says what a task is about. */
const titlePrefix = 'title:';

/** The first text of a message in one line; undefined without any. */
const titleOf = (parts: readonly PartMembers[]): string | undefined =>
  oneLine(parts.find(({ text }) => text?.trim())?.text ?? '') || undefined;

/** The name among the claims about a caller. */
function nameIn(claims: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const { name, email, sub, scope } = claims ?? {};
  return [name, email, sub, scope].find((claim) => typeof claim === 'string' && claim !== '') as
    | string
    | undefined;
}

/** Throws for a message without parts, which cannot be shown. */
function readable(message: Message): Message {
  if (!Array.isArray(message.parts)) throw new TypeError('The message has no parts');
  return message;
}
