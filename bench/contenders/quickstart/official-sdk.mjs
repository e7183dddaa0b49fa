import { AgentCard, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';

const executor = {
  async execute({ taskId, contextId, userMessage }, bus) {
    const ids = { taskId, contextId };
    const status = (state) => ({ state: `TASK_STATE_${state}`, timestamp: new Date().toISOString() });
    const history = [Message.toJSON(userMessage)];
    bus.publish(
      AgentEvent.task(Task.fromJSON({ id: taskId, contextId, status: status('SUBMITTED'), history })),
    );
    const parts = [{ text: `Hello, ${userMessage.parts[0].content.value}!` }];
    const artifact = { artifactId: 'greeting', name: 'greeting', parts };
    bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({ ...ids, artifact })));
    const completed = { ...ids, status: status('COMPLETED') };
    bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON(completed)));
    bus.finished();
  },
  async cancelTask() {},
};
const card = AgentCard.fromJSON({
  name: 'Greeter',
  description: 'Says hello',
  version: '1.0.0',
  supportedInterfaces: [
    { url: `http://127.0.0.1:${process.argv[2]}/`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: `http://127.0.0.1:${process.argv[2]}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  ],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
});
const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
const app = express();
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
app.use('/rest', restHandler(options));
app.use('/', jsonRpcHandler(options));
app.listen(Number(process.argv[2]), '127.0.0.1');
