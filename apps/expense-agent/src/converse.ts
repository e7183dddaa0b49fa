import { deepEqual, equal } from 'node:assert/strict';
import { connect, dataOf, textOf } from '@batonjs/client';

const [url = 'http://127.0.0.1:4001'] = process.argv.slice(2);
const agent = await connect(url);

console.log('An expense in one go');
const { task: approved } = await agent.send([{ data: { amount: 100, currency: 'USD' } }]);
equal(approved?.status.state, 'TASK_STATE_COMPLETED');
deepEqual(dataOf(approved.artifacts?.[0]), { status: 'approved', message: 'Processed 100 USD' });

console.log('An expense bit by bit, watched');
const { task: asking } = await agent.send('20');
equal(asking?.status.state, 'TASK_STATE_INPUT_REQUIRED');
console.log(`  ${textOf(asking.status.message)}`);
const states: string[] = [];
const stream = agent.stream('EUR', { task: asking });
for await (const { statusUpdate } of stream) if (statusUpdate) states.push(statusUpdate.status.state);
equal(states.at(-1), 'TASK_STATE_COMPLETED');
equal(stream.task?.id, asking.id);
deepEqual(dataOf(stream.task?.artifacts?.[0]), { status: 'approved', message: 'Processed 20 EUR' });

console.log('An expense that cannot be');
const { task: refused } = await agent.send('-5 USD');
equal(refused?.status.state, 'TASK_STATE_FAILED');
deepEqual(dataOf(refused.status.message), { code: 'INVALID_INPUT', message: 'Amount must be positive' });

console.log('All as it should be');
