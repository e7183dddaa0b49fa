import type { AgentReply, MessageInput, SendOptions } from '@batonjs/client';
import type { CallToolRequest, CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import { handleOrResult, type TaskView } from '../tasks/detailed-task.ts';
import { resultOf } from '../translation/results.ts';
import type { SkillTool } from '../translation/tool-list.ts';
import { Conversation, type Outcome, outcomeResult, sendArguments } from './conversation.ts';
import { type Call, cancelAbandoned } from './follow.ts';
import { toMcpTask } from './task-methods.ts';

type Arguments = CallToolRequest['params']['arguments'];

/** Starts a task of MCP 2025-11-25. An agent that answers with a message made no task: its answer is the result. */
export async function startTask(call: Call, tool: SkillTool, args: Arguments) {
  const reply = await sendArguments(call, tool, args, (input, options) => start(call, input, options));
  if ('content' in reply) return reply;
  // The SDK wants content in every result of a tool; clients that asked for a task read `task`.
  return reply.task ? { content: [], task: toMcpTask(reply.task) } : resultOf(reply);
}

/** Sends a message. Resolves as soon as its task exists. */
const start = (
  { agent, extensions }: Call,
  input: MessageInput,
  options: SendOptions = {},
): Promise<AgentReply> =>
  agent.send(input, {
    ...options,
    extensions: [...new Set([...extensions, ...(options.extensions ?? [])])],
    returnImmediately: true,
  });

/**
 * Calls a tool for a client that takes handles: a task that goes on at once, or after `waitMs` of the call, is its handle.
 * The agent stores a task before it tells of it, so that every process finds the task of a handle. Before the handle,
 * the client may cancel the task by leaving; after it, only `tasks/cancel` does. Spec: SEP-2663, Task Creation.
 */
export async function callForHandle(
  call: Call,
  tool: SkillTool,
  args: Arguments,
  view: TaskView,
  { isImmediate, asks }: { readonly isImmediate: boolean; readonly asks: boolean },
): Promise<CallToolResult | InputRequiredResult> {
  // An answer to a question of a request before is sent as one: only its call waits for the first update.
  const isAnswer = call.context.mcpReq.requestState() !== undefined;
  let last: Outcome | undefined;
  const reply = await sendArguments(call, tool, args, async (input, options) => {
    if (isImmediate && !isAnswer) {
      const started = await start(call, input, options);
      await cancelAbandoned(call, started.task);
      return started;
    }
    const conversation = new Conversation(isImmediate ? { ...call, waitMs: 1 } : call, asks);
    last = await conversation.send(input, options);
    return last.reply;
  });
  if ('content' in reply) return reply;
  if (last && (last.input || last.refusal)) return outcomeResult(last);
  return handleOrResult(reply, view);
}
