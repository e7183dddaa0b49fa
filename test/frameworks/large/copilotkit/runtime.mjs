import { createServer } from 'node:http';
import { HttpAgent } from '@ag-ui/client';
import { CopilotRuntime } from '@copilotkit/runtime/v2';
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node';

/** The runtime of CopilotKit, as its documentation starts it, with an agent behind AG-UI. */
const { PORT, AGENT = '' } = process.env;

const runtime = new CopilotRuntime({ agents: { default: new HttpAgent({ url: AGENT }) } });
createServer(createCopilotNodeListener({ runtime, basePath: '/api/copilotkit' })).listen(
  Number(PORT),
  '127.0.0.1',
  () => console.log('The runtime listens'),
);
