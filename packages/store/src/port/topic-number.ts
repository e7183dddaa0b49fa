import type { Topic } from './task-store.ts';

/**
 * The number of a topic, 32 bits, under which processes tell each other of changes. Two topics may have the same number:
 * their subscribers are then notified too often, which the port allows.
 */
export function topicNumber(topic: Topic): number {
  const number =
    'queue' in topic
      ? hashed(queueStart, topic.queue)
      : hashed(Math.imul(hashed(taskStart, topic.taskId) ^ space, prime), topic.scope);
  return number >>> 0;
}

const prime = 0x01000193;
const space = 0x20;

/** FNV-1a, continued with a text. The parts of a name are not joined first: that would make a text for each commit. */
function hashed(start: number, text: string): number {
  let number = start;
  for (let index = 0; index < text.length; index++)
    number = Math.imul(number ^ text.charCodeAt(index), prime);
  return number;
}

const queueStart = hashed(0x811c9dc5, 'queue ');
const taskStart = hashed(0x811c9dc5, 'task ');
