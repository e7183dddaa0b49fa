import { createServer } from 'node:http';
import { openStore } from '@batonjs/sample-store';
import { createAgentServer } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { createTaskGateway } from '@batonjs/task-gateway';
import { expenseAgent } from './handle-task.ts';

const { PORT = '8080', BATON_DATA = '.data', BATON_STORE } = process.env;
const store = await openStore(BATON_STORE || `sqlite:${BATON_DATA}/task-service.db`);
const agent = createAgentServer({ ...expenseAgent, name: 'expense', store, messages: { idempotency: true } });
const gateway = createTaskGateway({ types: { expense: agent }, store });
const listener = createServer(nodeHandler(gateway));
gateway.attach(listener);
listener.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`The task service is at http://127.0.0.1:${PORT}`),
);

const stop = async () => {
  await gateway.close();
  await agent.close();
  listener.close().closeAllConnections();
  await store.close();
};
process.on('SIGINT', stop).on('SIGTERM', stop);
