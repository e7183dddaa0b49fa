import { deepEqual, equal, ok } from 'node:assert/strict';
import { connect, dataOf, TaskGraph, textOf } from '@batonjs/client';

const [url = 'http://127.0.0.1:4004'] = process.argv.slice(2);
const agent = await connect(url);

console.log('What is possible, in messages');
const { message, task: none } = await agent.send('Can you arrange a trip to Helsinki?');
equal(none, undefined);
console.log(`  ${textOf(message)}`);

console.log('The trip, in tasks');
const trip = new TaskGraph(
  agent,
  {
    flight: { send: 'Book a flight' },
    hotel: { after: ['flight'], send: 'Book a hotel' },
    snowmobile: { after: ['flight'], send: 'Book a snowmobile activity' },
    spa: { after: ['hotel'], send: 'Add a spa reservation to the hotel booking' },
  },
  { contextId: message?.contextId },
);
const changes: string[] = [];
for await (const { step, state, event } of trip) {
  if (event) continue;
  console.log(`  ${step} ${state} (${trip.progress.done} of ${trip.progress.total})`);
  changes.push(`${step} ${state}`);
}
const isBefore = (one: string, other: string) => changes.indexOf(one) < changes.indexOf(other);
ok(isBefore('flight done', 'hotel running') && isBefore('flight done', 'snowmobile running'));
ok(
  isBefore('hotel running', 'snowmobile done') && isBefore('snowmobile running', 'hotel done'),
  'in parallel',
);
ok(isBefore('hotel done', 'spa running'));

const { flight, hotel, snowmobile, spa } = await trip.result();
for (const { task } of [flight!, hotel!, snowmobile!, spa!]) {
  equal(task?.contextId, message?.contextId);
  console.log(`  ${textOf(task?.artifacts?.[0])}`);
}
const basedOn = ({ task }: typeof flight & {}) => Object(dataOf(task?.artifacts?.[0])).basedOn;
deepEqual(basedOn(hotel!), { taskId: flight?.task?.id, artifactId: 'flight' });
deepEqual(basedOn(snowmobile!), { taskId: flight?.task?.id, artifactId: 'flight' });
deepEqual(basedOn(spa!), { taskId: hotel?.task?.id, artifactId: 'hotel' });

console.log('All as it should be');
