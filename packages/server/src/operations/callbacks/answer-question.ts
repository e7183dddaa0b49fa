import type { Callback, QuestionLink, State } from '@batonjs/lifecycle';
import { answerPrefix, reservedFor } from '@batonjs/lifecycle/internals';
import type { Message, Part } from '@batonjs/protocol';
import { type Form, formIn, isOwnForm } from '@batonjs/protocol/forms';
import { isSameJson } from '@batonjs/protocol/json';
import { StoreError } from '@batonjs/store';
import { isoTime } from '../../base/timing/clock.ts';
import type { LiveTask } from '../../log/live-task.ts';
import { decideAll, reserveSize } from '../../log/write/decision.ts';
import { write } from '../../log/write/write.ts';
import { dueAt } from '../../turns/order/deadline-watch.ts';
import { orderFor } from '../../turns/order/schedule.ts';
import { type CallbackToken, latestMessageOf } from '../../turns/outside/open-callback.ts';
import { onceOf, type Receive } from '../accept/receive.ts';
import type { Dependencies } from '../call/call-context.ts';
import { callbackIn } from './receive-callback.ts';

/** A question as a person is shown it. */
export interface Asked {
  readonly question: Message;
  /** `isOwn`: the agent made it, and no other one. `isHidden`: the client gets the question as text alone. */
  readonly form: (Form & { readonly isOwn: boolean; readonly isHidden: boolean }) | undefined;
}

/** A question that waits for the answer of one person. */
export interface WaitingQuestion extends Asked {
  /** Who is asked. */
  readonly by: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly expiresAt: string;
}

/**
 * Where a link stands. `early`: the agent has not asked yet. `answered`: by this link. `elsewhere`: another answer came.
 * `reserved`: the question is for others.
 */
export type LinkStatus =
  | WaitingQuestion
  | 'unknown'
  | 'early'
  | 'answered'
  | 'elsewhere'
  | 'reserved'
  | 'expired'
  | 'ended';

type LinkDependencies = Pick<Dependencies, 'tasks' | 'clock' | 'options'>;

/** The link that a person has to a task. `expiresAt`: when the page of all questions ends, ISO 8601, UTC, milliseconds. */
export type LinkOfPerson = Pick<CallbackToken, 'scope' | 'taskId'> &
  Pick<WaitingQuestion, 'by' | 'expiresAt'>;

export type LinkName = CallbackToken | LinkOfPerson;

/** Where a link stands. */
export const readAnswerLink = (of: LinkName, dependencies: LinkDependencies): Promise<LinkStatus> =>
  withLink(of, dependencies, async (live, id, link) => linkStatusOf(live.state, id, link, dependencies));

/** So many tasks that wait are looked at, the newest, for so many questions of a person. */
const most = { tasks: 100, questions: 20 };

/** The open questions to which a person has links, the newest first. One that cannot be read is left out. */
export async function openQuestions(
  person: LinkOfPerson,
  dependencies: LinkDependencies & Pick<Dependencies, 'store'>,
): Promise<readonly (WaitingQuestion & { readonly taskId: string })[]> {
  const query = { state: 'TASK_STATE_INPUT_REQUIRED', limit: most.tasks } as const;
  const { tasks } = await dependencies.store.list(person.scope, query);
  const open = [];
  for (const { taskId } of tasks) {
    const link = await readAnswerLink({ ...person, taskId }, dependencies).catch(() => undefined);
    if (typeof link === 'object' && open.push({ ...link, taskId }) === most.questions) break;
  }
  return open;
}

/** An answer as it was posted, to the question with this id. */
export interface PostedAnswer {
  readonly questionId: string;
  /** The parts of the answer, or its faults by the member of the form. */
  read(asked: Asked): { readonly parts: readonly Part[] } | AnswerErrors;
}

export interface AnswerErrors {
  readonly errors: Readonly<Record<string, string>>;
}

/**
 * Answers a question, once, and starts the next turn. Resolves to `answered` if the answer is in the log, now or since
 * the same one came before. Resolves to the question with errors if the answer does not fit it, and to the one that the
 * task asks by now if that is another one; else to why not. Rejects with `RESOURCE_EXHAUSTED` if the log of the task or the
 * queue is full.
 */
export const answerQuestion = (
  of: LinkName,
  { questionId, read }: PostedAnswer,
  dependencies: LinkDependencies,
): Promise<LinkStatus | (WaitingQuestion & AnswerErrors)> =>
  withLink(of, dependencies, async (live, id, link) => {
    const linkStatus = () => linkStatusOf(live.state, id, link, dependencies);
    const waiting = linkStatus();
    if (typeof waiting !== 'object') {
      const question = waiting === 'answered' ? messageIn(live.state, questionId) : undefined;
      const again = question?.role === 'ROLE_AGENT' ? read(askedBy(live.state, question)) : undefined;
      return again && 'parts' in again ? settled(live.state, id, again.parts, waiting) : waiting;
    }
    if (waiting.question.messageId !== questionId) return waiting;
    const answer = read(waiting);
    if ('errors' in answer) return { ...waiting, ...answer };
    const message: Message = { messageId: idOf(id), role: 'ROLE_USER', parts: [...answer.parts] };
    await commitAnswer(live, receiveFor(live.state, message, link), dependencies, (state) => {
      const found = linkStatusOf(state, id, link, dependencies);
      return typeof found === 'object' && found.question.messageId === questionId;
    });
    return settled(live.state, id, answer.parts, linkStatus());
  });

/** Writes the answer while the question is open, and reads what the log has then. */
async function commitAnswer(
  live: LiveTask,
  receive: Receive,
  { clock, options }: LinkDependencies,
  isOpen: (state: State) => boolean,
): Promise<void> {
  const decided = (state: State) => decideAll(state, [receive], isoTime(clock.now()));
  const giveBack = reserveSize(live, decided(live.state).facts, options.limits);
  try {
    // Not an open append: an answer that came at the same moment must be seen.
    await write(live, (state) => (state && isOpen(state) ? decided(state) : { facts: [], state }), {
      turn: { queue: options.queue, want: true, ...orderFor(options.schedule, receive) },
      once: onceOf(receive.message.messageId),
      dueAt: (state) => dueAt(state, options.timeouts),
    });
  } catch (error) {
    if (!StoreError.is(error, 'LOG_CLOSED')) throw error;
  } finally {
    giveBack();
  }
  await live.refresh();
}

interface AnswerableLink extends Pick<Callback, 'expiresAt'> {
  readonly answers: QuestionLink;
}

async function withLink<R>(
  of: LinkName,
  dependencies: LinkDependencies,
  use: (live: LiveTask, id: string, link: AnswerableLink) => R | Promise<R>,
): Promise<R | 'unknown' | 'expired'> {
  const { tasks, options, clock } = dependencies;
  if ('by' in of && of.expiresAt <= isoTime(clock.now())) return 'expired';
  const live = await tasks.open(of.scope, of.taskId);
  if (!live) return 'unknown';
  try {
    const id = 'by' in of ? linkOf(live.state, of.by, dependencies) : of.id;
    const link = 'by' in of ? live.state.agent?.callbacks[id] : callbackIn(live.state, of, options.queue);
    if (!link?.answers) return 'unknown';
    return await use(live, id, { ...link, answers: link.answers });
  } finally {
    tasks.release(live);
  }
}

const idOf = (id: string): string => `${answerPrefix}${id}`;

/** The id of the link that a person has to a task: that of an open question, else one that has answered. */
function linkOf(state: State, by: string, dependencies: LinkDependencies): string {
  const links = Object.entries(state.agent?.callbacks ?? {}).flatMap(([id, { answers, expiresAt }]) =>
    answers?.by === by ? { id, status: linkStatusOf(state, id, { answers, expiresAt }, dependencies) } : [],
  );
  const open = links.find(({ status }) => typeof status === 'object');
  return (open ?? links.findLast(({ status }) => status === 'answered') ?? links.at(-1))?.id ?? '';
}

function linkStatusOf(
  state: State,
  id: string,
  { answers: { by, after }, expiresAt }: AnswerableLink,
  { clock }: LinkDependencies,
): LinkStatus {
  if (messageIn(state, idOf(id))) return 'answered';
  if (latestMessageOf(state) !== after) return 'elsewhere';
  if (state.closed) return 'ended';
  const now = isoTime(clock.now());
  if (expiresAt <= (now < state.at ? state.at : now)) return 'expired';
  const status = state.task?.status;
  const question = status?.state === 'TASK_STATE_INPUT_REQUIRED' ? status.message : undefined;
  if (!question) return 'early';
  const reserved = reservedFor(state);
  if (Array.isArray(reserved) && !reserved.includes(by)) return 'reserved';
  return { ...askedBy(state, question), by, expiresAt };
}

function askedBy({ question: latest }: State, question: Message): Asked {
  const shown = formIn(question);
  if (shown) return { question, form: { ...shown, isOwn: isOwnForm(question), isHidden: false } };
  const hidden = latest?.messageId === question.messageId ? latest.form : undefined;
  return { question, form: hidden && { ...hidden, isOwn: hidden.isOwn === true, isHidden: true } };
}

const messageIn = ({ conversation: { messages } }: State, id: string): Message | undefined =>
  messages.items.find(({ messageId }, index) => index < messages.length && messageId === id);

/** One link has one answer: another one is not taken for it. */
const settled = <S>(state: State, id: string, parts: readonly Part[], linkStatus: S): S | 'elsewhere' =>
  linkStatus === 'answered' && !isSameJson(messageIn(state, idOf(id))?.parts, parts)
    ? 'elsewhere'
    : linkStatus;

/**
 * The answer, as the client would send it that started the task: with the extensions of its latest message, and in its
 * scope, but with no other claims of it.
 */
function receiveFor(
  { taken, contextId, task }: State,
  message: Message,
  { answers }: AnswerableLink,
): Receive {
  const { extensions, configuration, caller } = taken.at(-1) ?? {};
  const scope = caller?.scope;
  return {
    type: 'receive',
    message: { ...message, contextId, ...(task && { taskId: task.id }) },
    ...(configuration && { configuration }),
    ...(extensions && { extensions }),
    caller: { ...(scope !== undefined && { scope }), answeredBy: answers.by },
  };
}
