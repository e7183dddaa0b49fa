import { answer, textOf } from '@batonjs/client';
import { type AwaitedToolCall, awaitedCalls } from '@batonjs/client/answers';
import { formOf } from '@batonjs/extensions/client';
import type { Json, Part, Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import type { Interrupt, Resume } from './run-input.ts';

/** The interrupts of a task that waits: one for each tool call to approve, or one for its question. */
export function interruptsOf(task: Task): Interrupt[] {
  const question = questionId(task);
  const message = textOf(task.status.message);
  const words = message ? { message } : {};
  if (task.status.state === 'TASK_STATE_AUTH_REQUIRED') {
    const parts = task.status.message?.parts.filter((part) => 'data' in part || 'url' in part) ?? [];
    return [{ id: question, reason: 'baton:auth_required', ...words, metadata: { parts } }];
  }
  const calls = awaitedCalls(task);
  if (calls.length > 0)
    return calls.filter(({ needs }) => needs !== 'output').map((call) => approvalOf(call, question, message));
  const form = formOf(task);
  return [{ id: question, reason: 'input_required', ...words, ...(form && { responseSchema: form.schema }) }];
}

/** Whether a task asks for words alone, so that the next message of the user answers it. */
export const isPlainQuestion = (task: Task): boolean =>
  task.status.state === 'TASK_STATE_INPUT_REQUIRED' && awaitedCalls(task).length === 0 && !formOf(task);

/** Each turn has its own, so that an answer to an earlier question answers no later one. */
const questionId = (task: Task): string => task.status.message?.messageId ?? task.id;

const approvalOf = (
  { toolCallId, toolName, input, reason }: AwaitedToolCall,
  question: string,
  words: string,
): Interrupt => ({
  id: `${question}/${toolCallId}`,
  reason: 'tool_call',
  toolCallId,
  message: reason || words || `May the tool "${toolName}" run?`,
  responseSchema: {
    type: 'object',
    properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
    required: ['approved'],
  },
  metadata: { toolName, input },
});

/** The tool calls that the front end runs. */
export const frontEndCalls = (task: Task): readonly AwaitedToolCall[] =>
  awaitedCalls(task).filter(({ needs }) => needs === 'output');

/**
 * The answer to all interrupts of a task. Undefined if the user has left all of them. Throws `INVALID_PARAMS` if one has
 * no answer, or an answer has no interrupt.
 */
export function answerTo(
  task: Task,
  resume: readonly Resume[],
  results: ReadonlyMap<string, Json>,
): Part[] | undefined {
  const interrupts = interruptsOf(task);
  const known = new Map(interrupts.map((interrupt) => [interrupt.id, interrupt]));
  for (const { interruptId } of resume)
    if (!known.has(interruptId)) throw new A2AError('INVALID_PARAMS', `No interrupt ${interruptId} is open`);
  const answers = new Map(resume.map((each) => [each.interruptId, each]));
  for (const { id } of interrupts)
    if (!answers.has(id)) throw new A2AError('INVALID_PARAMS', `The interrupt ${id} has no answer`);
  if (resume.length > 0 && resume.every(({ status }) => status === 'cancelled')) return undefined;
  if (awaitedCalls(task).length === 0) {
    const [only] = resume;
    return [...answer(task, only?.payload ?? '').parts];
  }
  const values: Record<string, Json> = {};
  for (const { id, toolCallId } of interrupts) {
    const { status, payload } = answers.get(id) ?? {};
    if (toolCallId !== undefined) values[toolCallId] = status === 'cancelled' ? false : (payload ?? false);
  }
  for (const { toolCallId } of frontEndCalls(task)) {
    const result = results.get(toolCallId);
    if (result === undefined)
      throw new A2AError('INVALID_PARAMS', `The tool call ${toolCallId} has no result`);
    values[toolCallId] = result;
  }
  return [{ data: values }];
}
