import { A2AError, type AgentReply, type MessageInput, type SendOptions } from '@batonjs/client';
import type { Task } from '@batonjs/protocol';
import { tryJson } from '@batonjs/protocol/json';
import {
  type ElicitResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
} from '@modelcontextprotocol/server';
import { questionOf } from '../translation/question.ts';
import { type Call, follow, signalOf } from './follow.ts';

/** How a call ended: with a reply of the agent, with text for the client, or with a request for input. */
export interface Outcome {
  readonly reply: AgentReply;
  /** What to tell the client instead of the reply. */
  readonly refusal?: string;
  /** What the client does before it calls again; only protocol 2026-07-28. */
  readonly input?: InputRequiredResult;
}

/** The part of a call that comes back with the answer of the user. Not signed: it grants nothing that a taskId does not. */
interface Asked {
  readonly taskId: string;
  /** The id of the message with the question. */
  readonly asked: string;
}

/** Milliseconds that a user has for an answer. The task waits longer: `continue_task` answers it later. */
const answerMs = 3_600_000;

/** A task that is driven to its end by a client of MCP, which is asked what the agent asks. */
export class Conversation {
  readonly #call: Call;
  readonly #asks: boolean;

  constructor(call: Call, asks: boolean) {
    this.#call = call;
    this.#asks = asks;
  }

  /** Whether the client asks its user. */
  get asksUser(): boolean {
    return this.#asks;
  }

  /** Sends a message, or goes on where the answer of the user belongs if the request carries one. */
  async send(input: MessageInput, options: SendOptions = {}): Promise<Outcome> {
    const asked = readAsked(this.#call.context.mcpReq.requestState());
    if (!asked) return this.#ask(await this.#send(input, options));
    if (options.task !== undefined && options.task !== asked.taskId)
      throw new A2AError('INVALID_PARAMS', 'The state of the request is that of another task');
    return this.#resume(asked);
  }

  /** Waits for a task that exists, as it is. */
  async wait(taskId: string): Promise<Outcome> {
    return this.#ask(await this.#follow(taskId));
  }

  #send(input: MessageInput, options: SendOptions): Promise<AgentReply> {
    const { agent, extensions } = this.#call;
    const sent = { ...options, extensions: [...new Set([...extensions, ...(options.extensions ?? [])])] };
    return follow(this.#call, (signal) => agent.stream(input, { ...sent, signal }), true);
  }

  #follow(taskId: string): Promise<AgentReply> {
    const { agent, extensions } = this.#call;
    return follow(this.#call, (signal) => agent.follow(taskId, { signal, extensions }), false);
  }

  /** Asks the user what the agent asks, until it asks no more. */
  async #ask(first: AgentReply): Promise<Outcome> {
    let reply = first;
    for (;;) {
      const { task } = reply;
      if (!this.#asks || task?.status.state !== 'TASK_STATE_INPUT_REQUIRED') return { reply };
      const { message, requestedSchema } = questionOf(task);
      const { mcpReq } = this.#call.context;
      if (mcpReq.envelope) {
        const asked: Asked = { taskId: task.id, asked: task.status.message?.messageId ?? '' };
        const answer = inputRequired.elicit({ message, requestedSchema });
        const requestState = JSON.stringify(asked);
        return { reply, input: inputRequired({ inputRequests: { answer }, requestState }) };
      }
      const elicited = await this.#elicit(task);
      if (elicited?.action !== 'accept') return this.#refused(task, elicited?.action);
      reply = await this.#answer(task, elicited.content);
    }
  }

  /** What the user answered; undefined if the client could not ask. */
  async #elicit(task: Task): Promise<ElicitResult | undefined> {
    const { context, onError } = this.#call;
    const signal = signalOf(context);
    const { message, requestedSchema } = questionOf(task);
    try {
      const options = { timeout: answerMs, signal };
      return await context.mcpReq.elicitInput({ message, requestedSchema }, options);
    } catch (error) {
      signal.throwIfAborted();
      onError(error);
      return undefined;
    }
  }

  async #resume({ taskId, asked }: Asked): Promise<Outcome> {
    const { agent, context } = this.#call;
    const task = await agent.task(taskId).get();
    const isWaiting = task.status.state === 'TASK_STATE_INPUT_REQUIRED';
    // The answer arrived already: the client sends the request again because it did not get the reply.
    if (!isWaiting || (task.status.message?.messageId ?? '') !== asked) return this.wait(taskId);
    const answered = inputResponse(context.mcpReq.inputResponses, 'answer');
    if (answered.kind !== 'elicit') return this.#ask({ task });
    if (answered.action !== 'accept') return this.#refused(task, answered.action);
    return this.#ask(await this.#answer(task, answered.content));
  }

  async #answer(task: Task, content: Readonly<Record<string, unknown>> | undefined): Promise<AgentReply> {
    const asked = task.status.message?.messageId;
    // An answer that is sent twice is received once.
    const options = asked ? { messageId: `answer-${asked}`, task } : { task };
    return this.#send(questionOf(task).toMessage(content), options);
  }

  /** The user declined: the task is canceled. The user closed the question, or never saw it: it waits. */
  async #refused(task: Task, action: 'decline' | 'cancel' | undefined): Promise<Outcome> {
    if (action !== 'decline') return { reply: { task } };
    try {
      const canceled = await this.#call.agent.task(task).cancel();
      return { reply: { task: canceled }, refusal: 'The question was declined, so the task was canceled.' };
    } catch (error) {
      if (!A2AError.is(error, 'TASK_NOT_CANCELABLE')) throw error;
      return { reply: { task }, refusal: 'The question was declined. The task cannot be canceled.' };
    }
  }
}

function readAsked(state: unknown): Asked | undefined {
  if (typeof state !== 'string') return undefined;
  const { taskId, asked } = Object(tryJson(state)) as Readonly<Record<string, unknown>>;
  if (typeof taskId === 'string' && taskId !== '' && typeof asked === 'string') return { taskId, asked };
  throw new A2AError('INVALID_PARAMS', 'The state of the request is none of this server');
}
