import { expect, it } from 'vitest';
import { topicNumber } from '../../src/adapter.ts';

/** FNV-1a of a whole text. */
function numberOf(name: string): number {
  let number = 0x811c9dc5;
  for (let index = 0; index < name.length; index++)
    number = Math.imul(number ^ name.charCodeAt(index), 0x01000193);
  return number >>> 0;
}

it.each([
  ['task t s', { taskId: 't', scope: 's' }],
  [
    'task 01a21500-70e4-701c-be98-7d323bce4cb2 quotes\nü',
    {
      taskId: '01a21500-70e4-701c-be98-7d323bce4cb2',
      scope: 'quotes\nü',
    },
  ],
  ['task  ', { taskId: '', scope: '' }],
  ['queue quotes', { queue: 'quotes' }],
])('processes that share a database number "%s" alike', (name, topic) => {
  expect(topicNumber(topic)).toBe(numberOf(name));
});
