import { type AgentEvent, TaskView } from '@batonjs/client';
import { evolve, type Fact, historyOf, type State, UnknownFactError, viewTask } from '@batonjs/lifecycle';
import type { Message, Task } from '@batonjs/protocol';
import type { Entry, PartMembers } from '../../api/timeline.ts';
import type { Called } from '../models/totals.ts';
import { oneLine } from '../parts/words.ts';
import { type Asked, type Failure, failureOf, type Logged, loggedOf } from './entry-details.ts';

/** The most failures that are kept: the last ones. */
const mostFailures = 50;

/** Where the message of a question stands does not change when it is answered. */
const view = { currentStatusInHistory: true };

/**
 * A task as it was after some of the entries of its timeline: a log as its server folds it, the events of an agent without a
 * store as clients fold them, and what neither of them keeps.
 */
export class Replay {
  #state: State | undefined;
  /** The task of `#state`. */
  #task: Task | undefined;
  readonly #view = new TaskView();
  /** Messages that arrived before an agent without a store showed the task. */
  #early: readonly Message[] = [];
  /** The trace of the last message: 32 hexadecimal digits. Undefined for one that was not traced. */
  traceId: string | undefined;
  attempt = 0;
  /** How often the agent was started, in all turns. */
  attempts = 0;
  /** What the agent threw, the last one last. Another list after each. */
  failures: readonly Failure[] = [];
  /** What the agent logged, the last lines last. Another list after each entry with lines. */
  logged: readonly Logged[] = [];
  /** What steps called: models and tools. Another list after each. */
  called: readonly Called[] = [];
  /** How many attempts of turns failed or were cut off. */
  lost = 0;
  /** Whether an attempt runs that is not among the lost ones. */
  #isRunning = false;
  /** The task that it is a run again of. */
  forkedFrom: string | undefined;
  /** When it was forked from that: what it took over has the same time. */
  #forkedAt: string | undefined;
  /** Who was asked by links since the latest message of a client. Another list after each. */
  asked: readonly Asked[] = [];
  /** Who answered by a link, by the id of the message. Another record after each. */
  answeredBy: Readonly<Record<string, string>> = {};
  /** Who sent the first message, as far as the server knows. */
  caller: string | undefined;

  /** The task; undefined before it was created. Later entries change it. */
  get task(): Task | undefined {
    if (this.#state?.task) this.#task ??= viewTask(this.#state, view);
    return this.#task ?? this.#view.task;
  }

  /** The messages that came without a task, and the agent's answer to them. */
  get messages(): readonly Message[] {
    const answer = this.#state?.answer ?? this.#view.message;
    const said = this.#state ? historyOf(this.#state) : this.#early;
    return answer ? [...said, answer] : said;
  }

  get turn(): number {
    return this.#state?.turns ?? 0;
  }

  /** The tasks that it started, by name. */
  get children(): NonNullable<State['children']> {
    return this.#state?.children ?? {};
  }

  /** What the question of the status says that clients do not see. */
  get question(): State['question'] {
    return this.#state?.question;
  }

  /** What the task is about: what an agent said in a label, else the text of the first message. */
  get title(): string | undefined {
    const [first] = this.task?.history ?? this.messages;
    return this.#titleLabel?.slice(titlePrefix.length).trim() ?? titleOf(first?.parts ?? []);
  }

  /** Without the one that is the title. */
  get labels(): readonly string[] {
    return this.#state?.labels?.filter((label) => label !== this.#titleLabel) ?? [];
  }

  get #titleLabel(): string | undefined {
    return this.#state?.labels?.find((label) => label.startsWith(titlePrefix));
  }

  /** A state that later entries of this one do not change. */
  copy(): Replay {
    const copy = Object.assign(new Replay(), this);
    const { task, message } = this.#view;
    if (task) copy.#view.apply({ task });
    copy.#view.message = message;
    copy.#state = this.#state;
    copy.#early = this.#early;
    copy.#isRunning = this.#isRunning;
    copy.#forkedAt = this.#forkedAt;
    return copy;
  }

  /** Throws for an entry that has another shape than its type says. */
  apply({ seq, fact, event, message, at, call }: Entry): void {
    if (call) this.called = [...this.called, { seq, call, isReused: at === this.#forkedAt }];
    if (event) this.#receive(event as AgentEvent);
    else if (message) this.#say(readable(message));
    else if (fact) this.#fold(seq, fact);
  }

  #receive(event: AgentEvent): void {
    const { message = event.statusUpdate?.status.message } = event;
    if (message) readable(message);
    this.#view.apply(event);
    const { task } = this.#view;
    if (task) remember(task, this.#early);
    if (task) this.#early = [];
  }

  /** A client answers what the status says: the message of the status comes first, as in the history of the server. */
  #say(message: Message): void {
    const { task } = this.#view;
    if (task) remember(task, [task.status.message, message]);
    else this.#early = [...this.#early, message];
  }

  #fold(seq: number, fact: Fact): void {
    const message = 'message' in fact && typeof fact.message === 'object' ? fact.message : undefined;
    const said = fact.type === 'status-changed' ? fact.status.message : message;
    if (said) readable(said);
    try {
      this.#state = evolve(this.#state, fact);
      this.#task = undefined;
    } catch (error) {
      // A fact of a newer release is shown, and changes nothing here.
      if (!UnknownFactError.is(error)) throw error;
    }
    this.#note(seq, fact);
  }

  /** Keeps what no state has. */
  #note(seq: number, fact: Fact): void {
    switch (fact.type) {
      case 'message-received': {
        const { answeredBy } = fact.caller ?? {};
        this.asked = [];
        if (typeof answeredBy === 'string')
          this.answeredBy = { ...this.answeredBy, [fact.message.messageId]: answeredBy };
        if (fact.forked) {
          this.#forkedAt = fact.at;
          this.forkedFrom = fact.forked.taskId;
        }
        this.caller ??= nameIn(fact.caller);
        this.traceId = /^00-([\da-f]{32})-/.exec(fact.traceparent ?? '')?.[1];
        return;
      }
      case 'turn-started':
        // The attempt before it was cut off, if nothing ended it.
        this.#lose();
        this.#isRunning = true;
        this.attempt = fact.attempt;
        this.attempts += 1;
        return;
      case 'step-failed':
      case 'turn-failed':
        this.failures = [...this.failures.slice(1 - mostFailures), failureOf(seq, fact)];
        if (fact.type === 'turn-failed' || !fact.retryAt) this.#lose();
        return;
      case 'turn-ended':
      case 'turn-paused':
        this.#isRunning = false;
        return;
      case 'turn-logged':
        this.logged = [...this.logged, loggedOf(seq, fact)];
        return;
      case 'callback-opened':
        if (!fact.answers) return;
        this.asked = [
          ...this.asked,
          { by: fact.answers.by, assignedBy: fact.answers.assignedBy, expiresAt: fact.expiresAt },
        ];
    }
  }

  #lose(): void {
    if (this.#isRunning) this.lost += 1;
    this.#isRunning = false;
  }
}

/** Adds messages to the history of a task that it does not have. */
function remember(task: Task, messages: readonly (Message | undefined)[]): void {
  const known = new Set(task.history?.map(({ messageId }) => messageId));
  const added = messages.filter((message) => message !== undefined && !known.has(message.messageId));
  if (added.length > 0) task.history = [...(task.history ?? []), ...(added as Message[])];
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
