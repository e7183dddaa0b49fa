import { A2AError, type AgentReply, answer, type MessageInput, type SendOptions } from '@batonjs/client';
import { callSkill } from '@batonjs/extensions/client';
import type { Json, Task } from '@batonjs/protocol';
import { tryJson } from '@batonjs/protocol/json';
import {
  type CallToolResult,
  type ElicitResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { questionOf } from '../translation/question.ts';
import { asksApproval, resultOf, textResult } from '../translation/results.ts';
import type { SkillTool } from '../translation/tool-list.ts';
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

type Arguments = Readonly<Record<string, unknown>> | undefined;

const messageArguments = z.strictObject({
  message: z.string().min(1),
  data: z.record(z.string(), z.unknown()).optional(),
});

const continueArguments = z
  .strictObject({
    taskId: z.string().min(1),
    answer: z.string().optional(),
    values: z.record(z.string(), z.unknown()).optional(),
    cancel: z.boolean().optional(),
  })
  .refine(
    ({ answer, values, cancel }) =>
      [answer !== undefined, values !== undefined, cancel === true].filter(Boolean).length <= 1,
    'At most one of answer, values and cancel',
  );

/** How a message gets to the agent. */
export type Send = (
  input: MessageInput,
  options?: Parameters<Conversation['send']>[1],
) => Promise<AgentReply>;

/** Sends the arguments of a tool to the agent; those of a typed skill are checked before, and its output after. */
export async function sendArguments(
  { agent }: Pick<Call, 'agent'>,
  { skillId }: SkillTool,
  args: Arguments,
  send: Send,
): Promise<AgentReply | CallToolResult> {
  if (skillId !== undefined)
    return await callSkill({ card: agent.card, send }, skillId, (args ?? {}) as Json);
  const parsed = messageArguments.safeParse(args ?? {});
  if (!parsed.success) return invalid(parsed.error);
  const { message, data } = parsed.data;
  return await send([{ text: message }, ...(data ? [{ data: data as Json }] : [])]);
}

/** Calls the skill of a tool and waits for its result. */
export async function callTool(
  call: Call,
  conversation: Conversation,
  tool: SkillTool,
  args: Arguments,
): Promise<CallToolResult | InputRequiredResult> {
  let last: Outcome | undefined;
  const reply = await sendArguments(call, tool, args, async (input, options) => {
    last = await conversation.send(input, options);
    return last.reply;
  });
  return last ? outcomeResult(last) : (reply as CallToolResult);
}

/** Reads, answers or cancels a task that exists, and waits for its result. */
export async function continueTask(
  call: Call,
  conversation: Conversation,
  args: Arguments,
): Promise<CallToolResult | InputRequiredResult> {
  const parsed = continueArguments.safeParse(args ?? {});
  if (!parsed.success) return invalid(parsed.error);
  const { taskId, answer: text, values, cancel } = parsed.data;
  const handle = call.agent.task(taskId);
  if (cancel) {
    const task = await handle.cancel();
    const { isError, ...result } = resultOf({ task });
    // The call did what it was asked: a task that is canceled is no error here.
    return isError && task.status.state !== 'TASK_STATE_CANCELED' ? { ...result, isError } : result;
  }
  // An answer to a question of a request before belongs to that request.
  const isResumed = call.context.mcpReq.requestState() !== undefined;
  if (isResumed || (text === undefined && values === undefined))
    return outcomeResult(
      await (isResumed ? conversation.send('', { task: taskId }) : conversation.wait(taskId)),
    );
  const task = await handle.get();
  if (asksApproval(task) && !call.modelApproves)
    return conversation.asksUser ? outcomeResult(await conversation.wait(taskId)) : notTheModels;
  const message = answer(task, (text ?? values) as Json);
  return outcomeResult(await conversation.send(message));
}

const notTheModels = textResult(
  "The agent asks for an approval, which is not the model's to give: the user gives it where the agent is used otherwise. " +
    'continue_task with the taskId alone waits for it.',
  true,
);

/** What a client gets for the end of a call. */
export const outcomeResult = ({ reply, refusal, input }: Outcome): CallToolResult | InputRequiredResult =>
  input ?? (refusal ? { ...resultOf(reply), ...textResult(refusal, true) } : resultOf(reply));

/** The arguments that do not fit, each with the rule that it breaks. */
export function invalid({ issues }: z.ZodError): CallToolResult {
  const lines = issues.map(({ path, message }) => [...path.map(String), message].join(': '));
  return textResult(`The arguments do not fit the tool\n${lines.join('\n')}`, true);
}
