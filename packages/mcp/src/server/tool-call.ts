import { type AgentReply, answer, type MessageInput } from '@batonjs/client';
import { callSkill } from '@batonjs/extensions/client';
import type { Json } from '@batonjs/protocol';
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { asksApproval, resultOf, textResult } from '../translation/results.ts';
import type { SkillTool } from '../translation/tool-list.ts';
import type { Conversation, Outcome } from './conversation.ts';
import type { Call } from './follow.ts';

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
