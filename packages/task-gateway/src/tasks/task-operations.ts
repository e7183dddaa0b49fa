import { createHash } from 'node:crypto';
import { A2AError, type AgentClient } from '@batonjs/client';
import type { Json } from '@batonjs/protocol';
import type { Caller } from '@batonjs/server';
import type { GatewayTask } from './gateway-task.ts';
import type { TaskLog } from './task-log.ts';
import type { Assignment } from './view.ts';

/** Sends the headers that name a caller to the gateway's own agent server. */
export type HeadersOf = (caller: Caller, submission?: string) => Record<string, string>;

/** What changes tasks. Each operation is a call of the gateway's own agent server, whose log holds the tasks. */
export class TaskOperations {
  readonly #log: TaskLog;
  readonly #agent: () => Promise<AgentClient>;
  readonly #headersOf: HeadersOf;

  constructor(log: TaskLog, agent: () => Promise<AgentClient>, headersOf: HeadersOf) {
    this.#log = log;
    this.#agent = agent;
    this.#headersOf = headersOf;
  }

  /**
   * Creates a task, or meets the one that the same submission created. Rejects with `MESSAGE_ID_CONFLICT` if another
   * submission created it. The `taskId` is the id of the message, so that the store decides between two processes.
   */
  async submit(
    caller: Caller,
    { taskId, type, data }: Assignment,
  ): Promise<{ readonly task: GatewayTask; readonly isNew: boolean }> {
    const agent = await this.#agent();
    const submission = crypto.randomUUID();
    await agent.send([{ data }], {
      messageId: taskId,
      contextId: type,
      returnImmediately: true,
      headers: this.#headersOf(caller, submission),
    });
    const read = await this.#log.read(this.#log.addressOf(caller.scope, taskId));
    if (!read) throw new A2AError('UNAVAILABLE');
    return { task: read.task, isNew: read.submission === submission };
  }

  /** Asks to cancel a task. Rejects with `TASK_NOT_FOUND`, or `TASK_NOT_CANCELABLE` if it ended otherwise. */
  async cancel(caller: Caller, taskId: string): Promise<void> {
    const { id } = this.#log.addressOf(caller.scope, taskId);
    await (await this.#agent()).cancelTask({ id }, { headers: this.#headersOf(caller) });
  }

  /** Answers the form that a task shows since `sequence`. Rejects as `submit` if it was answered with other values. */
  async answer(
    caller: Caller,
    { taskId, sequence, form }: GatewayTask,
    values: Readonly<Record<string, Json>>,
  ): Promise<void> {
    const agent = await this.#agent();
    const { id } = this.#log.addressOf(caller.scope, taskId);
    const name = createHash('sha256')
      .update(JSON.stringify([sequence, form?.formId]))
      .digest('hex');
    await agent.send([{ data: { formId: form!.formId, values } }], {
      task: id,
      messageId: `input:${name.slice(0, 32)}`,
      returnImmediately: true,
      headers: this.#headersOf(caller),
    });
  }
}
