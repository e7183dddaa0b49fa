import { deepEqual, equal } from 'node:assert/strict';
import { type AgentReply, connect, dataOf, textOf } from '@batonjs/client';

type Task = NonNullable<AgentReply['task']>;

const [url = 'http://127.0.0.1:4004'] = process.argv.slice(2);
const agent = await connect(url);

console.log('What is possible, in messages');
const { message, task: none } = await agent.send('Can you arrange a trip to Helsinki?');
equal(none, undefined);
console.log(`  ${textOf(message)}`);

console.log('The trip, in tasks');
const { contextId } = message!;
const book = async (text: string, ...references: Task[]) => {
  const { task } = await agent.send(text, { contextId, references });
  equal(task?.contextId, contextId);
  console.log(`  ${textOf(task?.artifacts?.[0])}`);
  return task!;
};
const flight = await book('Book a flight');
const [[hotel, spa], snowmobile] = await Promise.all([
  book('Book a hotel', flight).then(
    async (hotel) => [hotel, await book('Add a spa reservation to the hotel booking', hotel)] as const,
  ),
  book('Book a snowmobile activity', flight),
]);

const basedOn = ({ artifacts }: Task) => Object(dataOf(artifacts?.[0])).basedOn;
deepEqual(basedOn(hotel), { taskId: flight.id, artifactId: 'flight' });
deepEqual(basedOn(snowmobile), { taskId: flight.id, artifactId: 'flight' });
deepEqual(basedOn(spa), { taskId: hotel.id, artifactId: 'hotel' });

console.log('All as it should be');
