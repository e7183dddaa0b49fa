import { equal, match, ok } from 'node:assert/strict';
import { connect, textOf } from '@batonjs/client';

const [url = 'http://127.0.0.1:4006'] = process.argv.slice(2);
const agent = await connect(url);

console.log('A question, its answer streamed');
const stream = agent.stream('My name is Ada and I like boats');
let chunks = 0;
for await (const { artifactUpdate } of stream) if (artifactUpdate) chunks += 1;
equal(stream.task?.status.state, 'TASK_STATE_COMPLETED');
ok(chunks > 0);
console.log(`  ${textOf(stream.task?.artifacts?.[0])}`);

console.log('Another in the same context');
const { task } = await agent.send('What is my name?', { contextId: stream.task?.contextId });
console.log(`  ${textOf(task?.artifacts?.[0])}`);
match(textOf(task?.artifacts?.[0]), /Ada/);
console.log('All as it should be');
