import { connect, textOf } from '@batonjs/client';

const { AGENT_URL = 'http://localhost:3000' } = process.env;
// A session of its own, as a visitor has.
const headers = { cookie: `session=${crypto.randomUUID()}` };
const agent = await connect(new URL('/api/agent', AGENT_URL), { headers });
const { task } = await agent.send(process.argv.slice(2).join(' ') || 'Hello');
for (const artifact of task?.artifacts ?? []) console.log(textOf(artifact));
