import {
  type AgentClient,
  answer,
  isInterrupted,
  type MessageInput,
  type SendOptions,
} from '@batonjs/client';
import type { Json, Part } from '@batonjs/protocol';
import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import { type Call, follow, signalOf } from '../server/follow.ts';
import { extensionsOf } from '../translation/extensions-of.ts';
import { textResult } from '../translation/results.ts';
import type { Development } from './development.ts';
import { shownReply } from './shown-reply.ts';
import type { Arguments } from './tools.ts';

/** Sends a message that starts a task, and waits for its end or its question. */
export async function send(
  development: Development,
  { message, data, contextId, waitSeconds }: Arguments<'send'>,
  context: ServerContext,
): Promise<CallToolResult> {
  if (message === undefined && data === undefined) return textResult('Give a message, data, or both', true);
  const parts: Part[] = [
    ...(message === undefined ? [] : [{ text: message }]),
    ...(data ? [{ data: data as Json }] : []),
  ];
  const options = contextId === undefined ? {} : { contextId };
  return converse(await development.agent(), parts, options, callOf(development, context, waitSeconds));
}

/** Answers the question of a task, and waits as above. */
export async function answerTask(
  development: Development,
  { taskId, answer: text, values, waitSeconds }: Arguments<'answer'>,
  context: ServerContext,
): Promise<CallToolResult> {
  if ((text === undefined) === (values === undefined))
    return textResult('Give an answer in words, or values', true);
  const agent = await development.agent();
  const message = answer(await agent.task(taskId).get(), (text ?? values) as Json);
  return converse(agent, message, {}, callOf(development, context, waitSeconds));
}

/** Forks a task, and waits for the end or the question of the new one. */
export async function forkTask(
  development: Development,
  { taskId, from, message, waitSeconds }: Arguments<'fork'>,
  context: ServerContext,
): Promise<CallToolResult> {
  const agent = await development.agent();
  const forked = await development.fork(taskId, { from, ...(message !== undefined && { message }) });
  const late = AbortSignal.timeout(Math.max(1, waitSeconds * 1_000));
  const signal = AbortSignal.any([late, signalOf(context)]);
  const stream = agent.follow(forked, { extensions: extensionsOf(agent), signal });
  try {
    for await (const _event of stream) {
      const isAsking = stream.task !== undefined && isInterrupted(stream.task);
      if (isAsking && (await waitsForAnswer(development, forked))) break;
    }
  } catch (error) {
    if (!late.aborted) throw error;
  }
  return shownReply({ task: stream.task ?? (await agent.task(forked).get()) });
}

/** Whether nothing was said to a task since its latest status. A fork begins with questions that were answered. */
async function waitsForAnswer(development: Development, taskId: string): Promise<boolean> {
  let waits = false;
  for (let after = 0; ; ) {
    const page = (await development.entries(taskId, after, 500)) ?? [];
    for (const { version, fact } of page) {
      if (fact.type === 'status-changed') waits = true;
      else if (fact.type === 'message-received') waits = false;
      after = version;
    }
    if (page.length === 0) return waits;
  }
}

type Waiting = Omit<Call, 'agent' | 'extensions'>;

const callOf = (
  { onError = () => {} }: Development,
  context: ServerContext,
  waitSeconds: number,
): Waiting => ({
  context,
  // 0 would wait without an end.
  waitMs: Math.max(1, waitSeconds * 1_000),
  cancelsTask: false,
  onError,
  notify: async () => {},
});

async function converse(
  agent: AgentClient,
  input: MessageInput,
  options: SendOptions,
  waiting: Waiting,
): Promise<CallToolResult> {
  const extensions = extensionsOf(agent);
  const start = (signal: AbortSignal) => agent.stream(input, { ...options, extensions, signal });
  return shownReply(await follow({ ...waiting, agent, extensions }, start, true));
}
