import { AgentCard, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { chunkText, quoteText } from '../chunk-text.ts';

/** The agent of the benchmarks for the official SDK. */
export class Executor implements AgentExecutor {
  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage } = context;
    const ids = { taskId, contextId };
    const { content } = userMessage.parts[0]!;
    const [what, count] = (content?.$case === 'text' ? content.value : '').split(' ');
    const now = () => new Date().toISOString();
    const status = (state: string) =>
      bus.publish(
        AgentEvent.statusUpdate(
          TaskStatusUpdateEvent.fromJSON({
            ...ids,
            status: { state: `TASK_STATE_${state}`, timestamp: now() },
          }),
        ),
      );
    const artifact = (artifactId: string, text: string, append: boolean) =>
      bus.publish(
        AgentEvent.artifactUpdate(
          TaskArtifactUpdateEvent.fromJSON({
            ...ids,
            append,
            artifact: { artifactId, name: artifactId, parts: [{ text }] },
          }),
        ),
      );
    bus.publish(
      AgentEvent.task(
        Task.fromJSON({
          id: taskId,
          contextId,
          status: { state: 'TASK_STATE_SUBMITTED', timestamp: now() },
          history: [Message.toJSON(userMessage)],
        }),
      ),
    );
    status('WORKING');
    if (what === 'quote') artifact('quote', quoteText, false);
    else for (let n = 0; n < Number(count); n++) artifact('chunks', chunkText(n), n > 0);
    status('COMPLETED');
    bus.finished();
  }

  async cancelTask(): Promise<void> {}
}

/** Its card. */
export const officialCard = AgentCard.fromJSON({
  name: 'Bench',
  description: 'Answers quotes',
  version: '1.0.0',
  supportedInterfaces: [{ url: 'http://127.0.0.1/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
});
