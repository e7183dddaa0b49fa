import { setTimeout as pause } from 'node:timers/promises';
import { type Agent, artifact, type CardInput, completed, inputRequired, working } from '@batonjs/server';

/** How long the agent counts for each number, in milliseconds. */
const eachMs = 500;
const most = 120;

/** The card of the counter. */
export const counterCard: CardInput = {
  name: 'Counter',
  description: 'Counts slowly. Kill the process while it does: the count goes on where it was.',
  skills: [
    {
      id: 'count',
      name: 'Count',
      description: 'Counts to a number, two each second. Each number is a step of the turn.',
      tags: ['durable', 'steps', 'restart'],
      examples: ['Count to 20'],
    },
  ],
};

/** Counts to the number in the message, and asks for one where there is none. Each number is a step: an attempt after a kill has them all and goes on. */
export const countSlowly: Agent = async function* ({ text, step, signal, attempt }) {
  const wanted = /\d{1,4}/.exec(text)?.[0];
  if (wanted === undefined) return yield inputRequired('To which number?');
  const last = Math.min(Number(wanted), most);
  yield working(attempt > 1 ? `Counting on, attempt ${attempt}` : `Counting to ${last}`);
  const numbers: number[] = [];
  for (let number = 1; number <= last; number += 1) {
    let isNew = false;
    numbers.push(
      await step(`count ${number}`, async () => {
        isNew = true;
        await pause(eachMs, undefined, { signal });
        return number;
      }),
    );
    if (isNew || number === last) yield artifact('numbers', numbers.join(' '));
  }
  yield completed(`Counted to ${last}`);
};
