import { StreamResponse, Task } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { type Server, ServerCredentials } from '@grpc/grpc-js';
import { onTestFinished } from 'vitest';

// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape
type Json = any;

/** Listens at a free port until the test ends. */
export function listenOfficial(server: Server): Promise<number> {
  onTestFinished(() => server.forceShutdown());
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
}

/** Asks for a currency until it has one. `slow` waits until it is canceled. */
export class Convert implements AgentExecutor {
  readonly #canceled = Promise.withResolvers<void>();

  async execute({ taskId, contextId, userMessage, task }: RequestContext, bus: ExecutionEventBus) {
    const ids = { taskId, contextId };
    const [first] = userMessage.parts;
    const text = first?.content?.$case === 'text' ? first.content.value : '';
    const publish = (event: Json) => {
      const response = StreamResponse.fromJSON(event);
      const { payload } = response;
      if (payload?.$case === 'statusUpdate') bus.publish(AgentEvent.statusUpdate(payload.value));
      if (payload?.$case === 'artifactUpdate') bus.publish(AgentEvent.artifactUpdate(payload.value));
    };
    const status = (state: string) =>
      publish({
        statusUpdate: {
          ...ids,
          status: { state: `TASK_STATE_${state}`, timestamp: new Date().toISOString() },
        },
      });
    const known = { id: taskId, contextId, status: { state: 'TASK_STATE_SUBMITTED' }, history: [] };
    bus.publish(AgentEvent.task(task ?? Task.fromJSON(known)));
    if (text === 'ask') status('INPUT_REQUIRED');
    else {
      status('WORKING');
      if (text === 'slow') await this.#canceled.promise;
      const parts = [{ text: '833 INR' }, { data: { rate: 83.3, steps: [1, null] } }, { raw: 'aGk=' }];
      publish({ artifactUpdate: { ...ids, artifact: { artifactId: 'quote', parts } } });
      status('COMPLETED');
    }
    bus.finished();
  }

  async cancelTask(taskId: string, bus: ExecutionEventBus) {
    const status = { state: 'TASK_STATE_CANCELED', timestamp: new Date().toISOString() };
    const response = StreamResponse.fromJSON({ statusUpdate: { taskId, contextId: '', status } });
    if (response.payload?.$case === 'statusUpdate')
      bus.publish(AgentEvent.statusUpdate(response.payload.value));
    bus.finished();
    this.#canceled.resolve();
  }
}
