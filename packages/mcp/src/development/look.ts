import { textOf } from '@batonjs/client';
import type { Task } from '@batonjs/protocol';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { textResult } from '../translation/results.ts';
import type { Development } from './development.ts';
import { timelineOf } from './timeline.ts';
import type { Arguments } from './tools.ts';

/** Whether the agent runs, its card, and what it printed. */
export async function describeAgent(
  development: Development,
  { lines }: Arguments<'agent'>,
): Promise<CallToolResult> {
  const agent = await development.agent();
  const printed = lines === 0 ? [] : development.printed().slice(-lines);
  const text = [
    `The agent runs at ${agent.interface.url}`,
    `Card: ${JSON.stringify(agent.card)}`,
    printed.length > 0 ? `It printed:\n${printed.join('\n')}` : 'It printed nothing',
  ];
  return textResult(text.join('\n\n'));
}

/** The tasks of the agent, a line for each. */
export async function listTasks(
  development: Development,
  { state, contextId, limit }: Arguments<'list_tasks'>,
): Promise<CallToolResult> {
  const agent = await development.agent();
  const { tasks, totalSize } = await agent.listTasks({
    pageSize: limit,
    ...(state && { status: state }),
    ...(contextId !== undefined && { contextId }),
  });
  return textResult([`${tasks.length} of ${totalSize} tasks`, ...tasks.map(rowOf)].join('\n'));
}

const rowOf = ({ id, contextId, status }: Task): string =>
  [id, status.state, status.timestamp, `context ${contextId}`, JSON.stringify(textOf(status.message))].join(
    ' ',
  );

/** The log of a task, a line for each entry. */
export async function showTimeline(
  development: Development,
  { taskId, after, limit }: Arguments<'timeline'>,
): Promise<CallToolResult> {
  const entries = await development.entries(taskId, after, limit);
  if (!entries) return textResult(`There is no task ${taskId}: list_tasks has those that there are`, true);
  if (entries.length === 0) return textResult(`Nothing after position ${after}`);
  const more = entries.length === limit ? `\nMore: call timeline with after ${entries.at(-1)?.version}` : '';
  return textResult(`${timelineOf(entries)}${more}`);
}
