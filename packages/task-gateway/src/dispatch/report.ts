import { isInterrupted, isTerminal, textOf } from '@batonjs/client';
import { errorOf, formOf, progressOf } from '@batonjs/extensions/client';
import type { Json, Task } from '@batonjs/protocol';
import {
  authRequired,
  canceled,
  completed,
  completedBeforeCancel,
  type emitting,
  failed,
  type Turn,
  working,
} from '@batonjs/server';
import {
  type GatewayError,
  type GatewayForm,
  noteIn,
  noteMessage,
  type QuestionName,
} from '../tasks/gateway-task.ts';
import { madeBy, resultOf } from './result.ts';

type Emit = Parameters<Parameters<typeof emitting>[0]>[0];

export type Report = ReturnType<typeof reportTo>;

/** Writes what happens to a task at its agent into the gateway's log. */
export function reportTo(emit: Emit, turn: Turn) {
  let written = '';
  const stopped = () => turn.signal.aborted;
  let isAccepted: boolean = turn.task?.status.state !== 'TASK_STATE_SUBMITTED';
  /** The question of a turn before this one. The agent may wait with it still. */
  let asked: QuestionName | undefined = turn.messages
    .map(noteIn)
    .findLast(({ question }) => question)?.question;

  /** Records the question that the agent waits with. */
  async function asks(task: Task): Promise<void> {
    const { state, message, timestamp } = task.status;
    const latest = JSON.stringify([state, timestamp, message?.messageId]);
    if (latest === written) return;
    await accept(task.id);
    written = latest;
    const { form } = questionOf(task);
    const question = nameOf(timestamp || message ? latest : undefined);
    // In this state, the turn goes on: it follows the task at the agent, which may end without an answer.
    const note = { agentTaskId: task.id, form, question, result: madeBy(task) };
    await emit(authRequired(noteMessage(textOf(message), note)));
  }

  /** The name that the turn before gave to a question, if it is the same one: an answer to it is the same message. */
  function nameOf(status: string | undefined): QuestionName {
    const before = asked;
    asked = undefined;
    return before && before.status === status && status !== undefined
      ? before
      : { id: crypto.randomUUID(), status };
  }

  async function result(result: Json, agentTaskId?: string, text = ''): Promise<void> {
    await accept(agentTaskId);
    const complete = stopped() ? completedBeforeCancel : completed;
    await emit(complete(noteMessage(text, { agentTaskId, result })));
  }

  async function fail(error: GatewayError, agentTaskId?: string, result?: Json): Promise<void> {
    await accept(agentTaskId);
    await emit(failed(noteMessage(error.message, { agentTaskId, error, result })));
  }

  /** Every task goes from `created` to `in_progress` before it ends, unless it is canceled. */
  async function accept(agentTaskId: string | undefined): Promise<void> {
    if (isAccepted) return;
    isAccepted = true;
    await emit(working(noteMessage('', { agentTaskId })));
  }

  return {
    /** Records how far the agent is, or its question. Writes nothing if nothing changed, or while it has not started. */
    async running(task: Task): Promise<void> {
      if (task.status.state === 'TASK_STATE_SUBMITTED' || isTerminal(task)) return;
      if (isInterrupted(task)) return asks(task);
      const text = textOf(task.status.message);
      const progress = percentOf(task);
      const latest = JSON.stringify([text, progress]);
      if (latest === written) return;
      written = latest;
      isAccepted = true;
      await emit(working(noteMessage(text, { agentTaskId: task.id, progress })));
    },
    /** Records how the task ended at the agent. `output` is the checked output of a typed skill. */
    async ended(task: Task, output?: Json): Promise<void> {
      const { state, message } = task.status;
      const text = textOf(message);
      if (state === 'TASK_STATE_CANCELED')
        return emit(canceled(noteMessage(text, { agentTaskId: task.id, result: madeBy(task) })));
      if (state === 'TASK_STATE_COMPLETED') return result(output ?? resultOf(task), task.id, text);
      const { code, message: why } = errorOf(task) ?? {
        code: state === 'TASK_STATE_REJECTED' ? 'REJECTED' : 'AGENT_FAILED',
        message: text,
      };
      await fail({ code, message: why || 'The agent gave no reason' }, task.id, madeBy(task));
    },
    result,
    failed: fail,
    canceled: (): Promise<void> => emit(canceled(noteMessage('', {}))),
  };
}

function percentOf(task: Task): number | undefined {
  const { progress, total } = progressOf(task) ?? { progress: 0, total: 0 };
  return total > 0 ? Math.round((100 * progress) / total) : undefined;
}

/** The question that a task waits with at its agent. */
export interface Question {
  readonly form: GatewayForm;
  /** The agent asked in words: its answer is text. */
  readonly isPlain: boolean;
}

/** The question of a task that waits for an answer or an authorization. One in words becomes a form with one field. */
export function questionOf({ id, status, ...task }: Task): Question {
  const form = formOf({ id, ...task, status: { ...status, state: 'TASK_STATE_INPUT_REQUIRED' } });
  if (form) return { form, isPlain: false };
  const plain: GatewayForm = {
    formId: status.message?.messageId || id,
    title: textOf(status.message) || 'The agent asks',
    schema: {
      type: 'object',
      properties: { text: { type: 'string' } },
      required: ['text'],
      additionalProperties: false,
    },
  };
  return { form: plain, isPlain: true };
}
