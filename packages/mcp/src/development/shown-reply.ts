import { type AgentReply, textOf } from '@batonjs/client';
import { errorOf, formOf } from '@batonjs/extensions/client';
import type { Task, TaskState } from '@batonjs/protocol';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { contentOf, contentOfArtifacts } from '../translation/content.ts';

/** A reply as the developer of its agent reads it: state, words, the question and how to answer it, and the artifacts. */
export function shownReply({ task, message }: AgentReply): CallToolResult {
  if (!task) return { content: (message?.parts ?? []).map((part, n) => contentOf(part, `a2a:message/${n}`)) };
  return {
    content: [{ type: 'text', text: summaryOf(task) }, ...contentOfArtifacts(task.id, task.artifacts ?? [])],
  };
}

const next: { readonly [State in TaskState]?: string } = {
  TASK_STATE_INPUT_REQUIRED: 'Call answer with this taskId.',
  TASK_STATE_FAILED: 'Call timeline with this taskId: it has the error.',
  TASK_STATE_SUBMITTED: 'It waits for its turn: call timeline with this taskId.',
  TASK_STATE_WORKING: 'It is still running: timeline shows what it does.',
};

function summaryOf(task: Task): string {
  const { id, contextId, status, artifacts = [] } = task;
  const { state, message } = status;
  const said = textOf(message);
  const code = errorOf(task)?.code;
  const form = formOf(task);
  const names = artifacts.map(({ name, artifactId }) => name ?? artifactId);
  const lines = [
    `Task ${id}, context ${contextId}: ${state}${code ? ` (${code})` : ''}`,
    said && `It says: ${said}`,
    form && `Form: ${JSON.stringify(form.schema)}`,
    next[state],
    names.length > 0 && `Artifacts, which follow: ${names.join(', ')}`,
  ];
  return lines.filter(Boolean).join('\n');
}
