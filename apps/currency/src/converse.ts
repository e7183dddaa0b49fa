import { deepEqual, equal } from 'node:assert/strict';
import { connect, conversation, dataOf, statusMessageIsLast, textOf } from '@batonjs/client';

const [url = 'http://127.0.0.1:4002'] = process.argv.slice(2);
const agent = await connect(url);

console.log('A question that leaves something out');
const { task: asking } = await agent.send('10美元等于多少?');
equal(asking?.status.state, 'TASK_STATE_INPUT_REQUIRED');
for (const message of conversation(asking)) console.log(`  ${message.role}  ${textOf(message)}`);
deepEqual(conversation(asking).map(textOf), ['10美元等于多少?', '请指定要将USD兑换成哪种货币?']);
equal(statusMessageIsLast(asking), true);

console.log('Its answer');
const { task: answered } = await agent.send('欧元', { task: asking });
equal(answered?.id, asking.id);
equal(answered.status.state, 'TASK_STATE_COMPLETED');
console.log(`  ${textOf(answered.status.message)}`);
equal(textOf(answered.artifacts?.[0]), '10 USD = 8.96 EUR');
equal(conversation(answered).length, 4);

console.log('All in one message, as data');
const { task: whole } = await agent.send({ data: { amount: 1000, from: 'JPY', to: 'USD' } });
equal(whole?.status.state, 'TASK_STATE_COMPLETED');
deepEqual(dataOf(whole.artifacts?.[0]), {
  amount: 1000,
  from: 'JPY',
  to: 'USD',
  result: 6.87,
  ratesAsOf: '2025-05-16',
});

console.log('All as it should be');
