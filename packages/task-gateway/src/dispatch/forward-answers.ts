import { answer, isInterrupted } from '@batonjs/client';
import { derivedId, isIdempotent, reach } from '@batonjs/nested-tasks/internals';
import type { Json, Message, Task } from '@batonjs/protocol';
import { questionOf } from './question.ts';
import { optionsOf, type Run } from './run.ts';

/**
 * Sends the answers of the host to the agent as they arrive, and first one that a process took but may not have sent.
 * Ends with the turn. Rejects if the agent still waits for an answer that cannot be sent to it.
 */
export async function forwardAnswers(run: Run, agentTaskId: string, signal: AbortSignal): Promise<void> {
  const { messages, inbox } = run.turn;
  const taken = messages.slice(1).findLast(({ role }) => role === 'ROLE_USER');
  if (taken) await forward(run, agentTaskId, taken, signal);
  for await (const message of inbox) {
    if (signal.aborted) return;
    await forward(run, agentTaskId, message, signal);
  }
}

async function forward(run: Run, agentTaskId: string, message: Message, signal: AbortSignal): Promise<void> {
  const { turn, target, unreachableMs: forMs } = run;
  const { agent } = target;
  const messageId = derivedId(turn.taskId, message.messageId);
  const read = () =>
    reach(() => agent.getTask({ id: agentTaskId }, { signal }), { forMs, signal, repeatable: true });
  const task = await read();
  const reply = isOpen(task, messageId) && answerTo(task, message);
  // The agent went on, or asks something else by now: the host sees the new form.
  if (!reply) return;
  try {
    const options = { ...optionsOf(run), messageId, returnImmediately: true, signal };
    const sending = { forMs, signal, repeatable: isIdempotent(agent) };
    await reach(() => agent.send(reply, options), sending);
  } catch (error) {
    signal.throwIfAborted();
    if (isOpen(await read(), messageId)) throw error;
  }
}

/** Whether the agent waits, and has not got this message yet. */
const isOpen = (task: Task, messageId: string): boolean =>
  isInterrupted(task) && !task.history?.some((message) => message.messageId === messageId);

/** The answer in the words that the agent asked for: the values of its form, or text. Undefined if it asks another form. */
function answerTo(task: Task, { parts }: Message) {
  const [part] = parts;
  const { formId, values } = Object(part && 'data' in part ? part.data : undefined) as Record<string, Json>;
  const { form, isPlain } = questionOf(task);
  if (form.formId !== formId) return undefined;
  return answer(task, isPlain ? String(Object(values).text ?? '') : (values ?? {}));
}
