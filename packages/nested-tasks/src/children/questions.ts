import { isInterrupted, type MessageInput } from '@batonjs/client';
import { type TaskUsage, USAGE, usageOf } from '@batonjs/extensions/client';
import { askedIn } from '@batonjs/extensions/internals';
import type { Message, Task, TaskState } from '@batonjs/protocol';
import { sleep } from '@batonjs/protocol/timing';
import type { TaskUpdate } from '@batonjs/server';
import { isIdempotent, offers, type Target } from '../agents/agents.ts';
import { reach } from '../agents/reach.ts';
import type { CallOptions, CallScope } from '../call.ts';
import { aborted } from './aborted.ts';
import { type ChildRecord, childIn, derivedId } from './child-record.ts';
import { answersAfter, answerTo, questionOf, toMessage } from './messages.ts';
import { type SendSettings, type StartedStream, send } from './start-child.ts';

/** The questions of a child, and the way of their answers. */
export function questionsOf(
  scope: CallScope,
  child: KnownChild,
  onQuestion: CallOptions['onQuestion'],
  settings: SendSettings,
) {
  /** The messages that an earlier attempt may have taken from the inbox: they answered another question, or this one. */
  function takenBefore(): ReadonlySet<string> {
    const { attempt, messages } = scope.turn;
    return new Set(attempt > 1 ? messages.map(({ messageId }) => messageId) : []);
  }

  /** What the agent itself answers. Kept in the log, so that another attempt sends the same. */
  async function ownAnswer(task: Task, asked: string | undefined): Promise<MessageInput | undefined> {
    const { own } = child.record;
    if (own && own.to === asked) return own.message;
    const input = await onQuestion?.(structuredClone(task));
    if (input === undefined) return undefined;
    const message = toMessage(input);
    child.change({ own: { to: asked, message }, asked, question: undefined });
    await child.save();
    return message;
  }

  function ask(task: Task, state: TaskState, questions: number): Promise<void> {
    const question = child.idOf('question', String(questions));
    child.change({ questions, question, asked: task.status.message?.messageId, answered: undefined });
    const update = { status: { state, message: questionOf(task, question) } };
    return child.save(askedIn(scope.turn, update));
  }

  /** The user's answers to the latest question that the child did not get. */
  function unanswered(): Message[] {
    const { question, answered } = child.record;
    const answers = answersAfter(scope.turn.messages, question);
    return answers.slice(answers.findIndex(({ messageId }) => messageId === answered) + 1);
  }

  /** Passes on the user's answers, of which an attempt that died may have sent some. */
  async function deliver(answers: readonly Message[]): Promise<StartedStream | undefined> {
    const task = await child.read();
    const last = answers.at(-1)!;
    if (!isInterrupted(task)) {
      child.change({ answered: last.messageId });
      return undefined;
    }
    for (const answer of answers.slice(0, -1)) await forward(task, answer);
    return answer(task, answerTo(task, last), child.idOf('message', last.messageId), last.messageId);
  }

  async function answer(
    task: Task,
    input: MessageInput,
    messageId: string,
    answered: string,
  ): Promise<StartedStream | undefined> {
    if (hasMessage(task, messageId)) {
      child.change({ answered });
      return undefined;
    }
    const { id: taskId, contextId } = task;
    const message: Message = { ...toMessage(input), role: 'ROLE_USER', messageId, taskId, contextId };
    const started = await send(child.target, message, {}, settings);
    child.change({ answered });
    return started;
  }

  async function forward(task: Task, message: Message): Promise<void> {
    const messageId = child.idOf('message', message.messageId);
    if (hasMessage(task, messageId)) return;
    const { client } = child.target;
    const { signal, unreachableMs: forMs } = settings;
    const options = { messageId, task, returnImmediately: true, signal };
    const sending = { forMs, signal, repeatable: isIdempotent(client) };
    await reach(() => client.send(answerTo(task, message), options), sending);
  }

  /** Looks for messages instead of taking one, which would keep the next from the agent when the child goes on. */
  async function forwardInbox(task: Task, known: ReadonlySet<string>): Promise<void> {
    const { turn, signal, logger, authorizing } = scope;
    const { name } = child;
    try {
      while (authorizing.has(name) && !signal.aborted) {
        if (turn.inbox.size === 0) await sleep(50);
        else {
          const message = await turn.inbox.take();
          if (message && !known.has(message.messageId)) await forward(task, message);
        }
      }
    } catch (err) {
      // The stream of the child reports what becomes of it.
      if (!signal.aborted) logger('warn', 'An answer did not reach the agent of a child', { err });
    }
  }

  return {
    /** Whether the child asks something that was not answered yet: an answer may be on its way. */
    isNew({ status: { state, message } }: Task): boolean {
      const { answered, asked } = child.record;
      const isAnswered = answered !== undefined && asked !== undefined && asked === message?.messageId;
      return state === 'TASK_STATE_INPUT_REQUIRED' && !isAnswered;
    },
    /**
     * Deals with a question: the agent answers it, or the user did; else it becomes one of this task, which ends the turn.
     * Resolves to the stream of the answer; undefined if the child got it before.
     */
    async asked(task: Task): Promise<StartedStream | undefined> {
      child.state = task.status.state;
      const asked = task.status.message?.messageId;
      const own = await ownAnswer(task, asked);
      if (own !== undefined) return answer(task, own, child.idOf('answer', asked ?? ''), asked ?? '');
      const answers = unanswered();
      if (answers.length > 0) return deliver(answers);
      const { question, answered, questions = 0 } = child.record;
      const isRepeated = question !== undefined && answered === undefined;
      await ask(task, 'TASK_STATE_INPUT_REQUIRED', isRepeated ? questions : questions + 1);
      // The turn is over: its signal is aborted in a moment.
      return aborted(scope.signal);
    },
    /** Tells the user that the child waits for an authorization, and passes on what the user says meanwhile. */
    async authorize(task: Task): Promise<void> {
      const { authorizing } = scope;
      child.state = task.status.state;
      const { asked, questions = 0 } = child.record;
      const isSame = asked === task.status.message?.messageId;
      const isKnown = authorizing.has(child.name);
      if (isKnown && isSame) return;
      const answers = isSame ? unanswered() : [];
      const known = takenBefore();
      // Before the user sees it: another child that goes on at once must not hide it.
      authorizing.add(child.name);
      await ask(task, 'TASK_STATE_AUTH_REQUIRED', isSame ? questions : questions + 1);
      for (const message of answers) await forward(task, message);
      if (!isKnown) void forwardInbox(task, known);
    },
    /** To be called when the child goes on. Returns whether this task, which waited for an authorization, goes on too. */
    endAuthorizing(): boolean {
      const { authorizing } = scope;
      return authorizing.delete(child.name) && authorizing.size === 0;
    },
  };
}

/** Whether the child got the message: an attempt that died sent it. */
const hasMessage = ({ history }: Task, messageId: string): boolean =>
  history?.some((message) => message.messageId === messageId) ?? false;

/** A child as its parent knows it, and writes it to its log. */
export class KnownChild {
  readonly name: string;
  readonly target: Target;
  record: ChildRecord;
  taskId: string | undefined;
  state: TaskState | undefined;
  /** What its agent says that it used. */
  usage: TaskUsage | undefined;
  /** Whether an earlier attempt or turn wrote it. */
  readonly isFromLog: boolean;
  readonly #scope: CallScope;

  constructor(scope: CallScope, name: string, target: Target) {
    const known = childIn(scope.turn.children, name);
    this.name = name;
    this.target = target;
    this.isFromLog = known !== undefined;
    this.record = known?.record ?? { at: target.at, startedAt: Date.now() };
    this.taskId = known?.taskId;
    this.state = known?.state;
    this.usage = known?.usage;
    this.#scope = scope;
  }

  change(changes: Partial<ChildRecord>): void {
    this.record = { ...this.record, ...changes };
  }

  /** Writes the child as it is known now, in one commit with an update of the task if there is one. */
  save(update?: TaskUpdate): Promise<void> {
    const { name, taskId, state, record, usage, target } = this;
    const agent = (target.client.card.name || 'Another agent').slice(0, 200);
    const child = { name, agent, ...(taskId && { taskId }), ...(state && { state }), usage, record };
    return this.#scope.emit({ ...update, child } as TaskUpdate);
  }

  /** Reads what the ended child used, where its agent says so. A report that cannot be read, or cannot be, is none. */
  async readUsage(): Promise<void> {
    const extensions = [USAGE].filter((uri) => offers(this.target.client, uri));
    if (extensions.length > 0) this.usage ??= await this.read(extensions).then(usageOf, () => undefined);
  }

  /** Reads the child from its agent. */
  read(extensions: readonly string[] = []): Promise<Task> {
    const { signal, limits } = this.#scope;
    const read = () => this.target.client.getTask({ id: this.taskId! }, { signal, extensions });
    return reach(read, { forMs: limits.unreachableMs, signal, repeatable: true });
  }

  /** An id that is derived from the task, the call and these texts. */
  idOf(...texts: readonly string[]): string {
    return derivedId(this.#scope.turn.taskId, this.name, ...texts);
  }
}
