import { A2AError, type AgentClient } from '@batonjs/client';
import { derivedId } from '@batonjs/nested-tasks/internals';
import type { Json } from '@batonjs/protocol';
import type { Caller } from '@batonjs/server';
import { GatewayRefusal } from './gateway-refusal.ts';
import { type Assignment, type GatewayTask, isFinal } from './gateway-task.ts';
import type { ReadTask, TaskAddress, TaskLog } from './task-log.ts';

export interface FormInput {
  readonly formId: string | undefined;
  readonly values: Readonly<Record<string, Json>>;
}

/** Sends the headers that name a caller to the gateway's own agent server. */
export type HeadersOf = (caller: Caller, submission?: string) => Record<string, string>;

export type TaskService = ReturnType<typeof taskService>;

/** What clients may do with tasks. What changes one is a call of the gateway's own agent server, whose log holds it. */
export function taskService(tasks: TaskLog, agent: () => Promise<AgentClient>, headersOf: HeadersOf) {
  const agentClient: () => Promise<AgentClient> = agent;

  /**
   * Creates a task, or meets the one that the same submission created. Rejects with `MESSAGE_ID_CONFLICT` if another
   * submission created it. The `taskId` is the id of the message, so that the store decides between two processes.
   */
  async function submit(
    caller: Caller,
    { taskId, type, data }: Assignment,
  ): Promise<{ readonly task: GatewayTask; readonly isNew: boolean }> {
    const agent = await agentClient();
    const submission = crypto.randomUUID();
    await agent.send([{ data }], {
      messageId: taskId,
      contextId: type,
      returnImmediately: true,
      headers: headersOf(caller, submission),
    });
    const read = await tasks.read(tasks.addressOf(caller.scope, taskId));
    if (!read) throw new A2AError('UNAVAILABLE');
    return { task: read.task, isNew: read.submission === submission };
  }

  /** The caller's task. Rejects with `TASK_NOT_FOUND`. */
  const read = async (caller: Caller, taskId: string): Promise<GatewayTask> =>
    (await readTask(caller, taskId)).task;

  async function readTask(caller: Caller, taskId: string): Promise<ReadTask> {
    const read = await tasks.read(tasks.addressOf(caller.scope, taskId));
    if (!read) throw taskNotFound();
    return read;
  }

  /** Cancels a task that has not ended. A task that is canceled already stays as it is. */
  async function cancel(caller: Caller, taskId: string): Promise<GatewayTask> {
    const before = await read(caller, taskId);
    if (before.status === 'canceled') return before;
    const { id } = tasks.addressOf(caller.scope, taskId);
    try {
      await (await agentClient()).cancelTask({ id }, { headers: headersOf(caller) });
    } catch (error) {
      if (!A2AError.is(error, 'TASK_NOT_CANCELABLE')) throw error;
      const { status } = await read(caller, taskId);
      throw new GatewayRefusal('TASK_NOT_CANCELABLE', `The task is ${status}`);
    }
    return read(caller, taskId);
  }

  /**
   * Answers the form that a task shows. One form takes one answer: the same again changes nothing, also after another
   * process took the task over.
   */
  async function answer(caller: Caller, taskId: string, { formId, values }: FormInput): Promise<GatewayTask> {
    const { task, question } = await readTask(caller, taskId);
    const { form, status } = task;
    if (!form) throw new GatewayRefusal('INPUT_NOT_EXPECTED', `The task is ${status} and asks nothing`);
    if (formId !== undefined && formId !== form.formId)
      throw new GatewayRefusal('INPUT_NOT_EXPECTED', 'The task waits for another form');
    const { id } = tasks.addressOf(caller.scope, taskId);
    const agent = await agentClient();
    await agent.send([{ data: { formId: form.formId, values } }], {
      task: id,
      messageId: `input:${derivedId(id, String(question), form.formId)}`,
      returnImmediately: true,
      headers: headersOf(caller),
    });
    return read(caller, taskId);
  }

  return { submit, read, cancel, answer, tasks };
}

export const taskNotFound = (): GatewayRefusal =>
  new GatewayRefusal('TASK_NOT_FOUND', 'There is no such task');

/** How often the store is read in case a notification was lost, in milliseconds. */
const sweepMs = 1_000;

/**
 * The task as soon as its sequence is larger than `after`, or as it was read when the time is over. Once the signal is
 * aborted, because the client left or the gateway closes, the store is not asked again. Undefined if it does not exist.
 */
export async function waitForUpdate(
  log: TaskLog,
  { scope, id }: TaskAddress,
  { after, ms, signal }: { readonly after: number; readonly ms: number; readonly signal: AbortSignal },
): Promise<ReadTask | undefined> {
  let changed = Promise.withResolvers<void>();
  // Subscribe before reading, or a commit in between would be missed.
  const unsubscribe = await log.store.subscribe({ scope, taskId: id }, () => changed.resolve());
  const wake = () => changed.resolve();
  const end = performance.now() + ms;
  signal.addEventListener('abort', wake);
  try {
    for (;;) {
      changed = Promise.withResolvers();
      const read = await log.read({ scope, id });
      const leftMs = end - performance.now();
      if (!read || read.task.sequence > after || isFinal(read.task) || leftMs <= 0 || signal.aborted)
        return read;
      const timer = setTimeout(wake, Math.min(leftMs, sweepMs));
      await changed.promise;
      clearTimeout(timer);
      if (signal.aborted) return read;
    }
  } finally {
    signal.removeEventListener('abort', wake);
    await unsubscribe();
  }
}
