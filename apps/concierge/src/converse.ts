import { equal } from 'node:assert/strict';
import { connect, textOf } from '@batonjs/client';

const [url = 'http://127.0.0.1:4005'] = process.argv.slice(2);
const agent = await connect(url);

console.log('A question for another agent, which asks back');
const { task: asking } = await agent.send('How much is 10 USD?');
equal(asking?.status.state, 'TASK_STATE_INPUT_REQUIRED');
console.log(`  ${textOf(asking.status.message)}`);
const { task: answered } = await agent.send('EUR', { task: asking });
equal(answered?.id, asking.id);
equal(textOf(answered.artifacts?.[0]), '10 USD = 8.96 EUR');

console.log('One that is canceled while it waits');
const { task: waiting } = await agent.send('How much is 20 USD?');
const canceled = await agent.cancelTask({ id: waiting!.id });
equal(canceled.status.state, 'TASK_STATE_CANCELED');

console.log('All as it should be');
