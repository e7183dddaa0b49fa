import { type Message, type Part, Role, type Task, TaskState, type TaskStatus } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server';

// Executors for the official SDK: they publish objects of its protocol buffers without waiting.

export const text = (value: string): Part => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: '',
});

export const says = (
  { contextId, taskId }: { contextId: string; taskId: string },
  ...parts: Part[]
): Message => ({
  messageId: crypto.randomUUID(),
  role: Role.ROLE_AGENT,
  contextId,
  taskId,
  parts,
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
});

/** The text of the user's message. */
export const asked = ({ userMessage }: RequestContext): string =>
  userMessage.parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');

/** Publishes the usual events of an executor. */
export function publisher(context: RequestContext, bus: ExecutionEventBus) {
  const { taskId, contextId, task, userMessage } = context;
  const statusOf = (state: TaskState, message?: Message): TaskStatus => ({
    state,
    message,
    timestamp: new Date().toISOString(),
  });
  return {
    task: (state = TaskState.TASK_STATE_SUBMITTED, more: Partial<Task> = {}) =>
      bus.publish(
        AgentEvent.task({
          ...(task ?? {
            id: taskId,
            contextId,
            artifacts: [],
            history: [userMessage],
            metadata: undefined,
            status: statusOf(state),
          }),
          ...more,
        }),
      ),
    status: (state: TaskState, said?: string, metadata?: Record<string, unknown>) =>
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId,
          status: statusOf(state, said === undefined ? undefined : says(context, text(said))),
          metadata,
        }),
      ),
    chunk: (artifactId: string, parts: Part[], { append = false, lastChunk = false } = {}) =>
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          artifact: {
            artifactId,
            name: artifactId,
            description: '',
            parts,
            metadata: undefined,
            extensions: [],
          },
          append,
          lastChunk,
          metadata: undefined,
        }),
      ),
  };
}

/** An executor that is one function. */
export const executor = (
  execute: AgentExecutor['execute'],
  cancelTask: AgentExecutor['cancelTask'] = async () => {},
): AgentExecutor => ({ execute, cancelTask });

/** Writes an essay in three appended chunks, like executors that stream the output of a model. */
export const essayist = executor(async (context, bus) => {
  const { task, status, chunk } = publisher(context, bus);
  task();
  status(TaskState.TASK_STATE_WORKING, 'Writing');
  chunk('essay', [text('once ')], { append: true });
  await Promise.resolve();
  chunk('essay', [text('upon ')], { append: true });
  chunk('essay', [text('a time')], { append: true, lastChunk: true });
  status(TaskState.TASK_STATE_COMPLETED, 'Done');
  bus.finished();
});
