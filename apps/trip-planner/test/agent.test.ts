import type { Message, Task } from '@batonjs/server';
import { type RunTurnOptions, runTurn } from '@batonjs/testing';
import { describe, expect, it } from 'vitest';
import type { Order } from '../src/airline.ts';
import { tripPlanner } from '../src/index.ts';

const { agent } = tripPlanner({ reserve: async ({ kind }) => `CODE-${kind}` });
const flight = (id: string, place = 'Helsinki', state = 'COMPLETED'): Task => ({
  id,
  contextId: 'context',
  status: { state: `TASK_STATE_${state}` as Task['status']['state'] },
  artifacts: [{ artifactId: 'flight', name: 'flight', parts: [{ text: 'x' }, { data: { place } }] }],
});

/** The agent's answer: the text of a message, or the last state and text, and the booking. */
async function outcome(said: string, options: RunTurnOptions = {}) {
  const { message, updates } = await runTurn(agent, said, options);
  if (message) return { message: textIn(message) };
  const last = updates.at(-1);
  const status = last && 'status' in last ? last.status : undefined;
  const [booked] = updates.flatMap((update) => ('artifact' in update ? update.artifact.parts : []).slice(1));
  return {
    state: status?.state.replace('TASK_STATE_', ''),
    ...(status?.message && { says: textIn(status.message) }),
    ...(booked && 'data' in booked && { booked: booked.data }),
  };
}
const textIn = ({ parts: [part] }: Message) => (part && 'text' in part ? part.text : '');
const user = (text: string): Message => ({ messageId: text, role: 'ROLE_USER', parts: [{ text }] });

describe('the trip planner answers with a message', () => {
  it.each([
    ['Hello', /flights, hotels.* in Helsinki, Rovaniemi, Lisbon/],
    [
      'Can you arrange a trip to Helsinki?',
      /^In Helsinki I can book a flight, a hotel, a snowmobile, a spa\./,
    ],
    ['I want to book a trip to Lisbon', /^In Lisbon I can book a flight, a hotel, a spa\./],
    ['a flight to Helsinki, what is it like?', /^In Helsinki/],
    ['', /flights, hotels/],
  ])('%j', async (said, answer) => {
    expect(await outcome(said)).toEqual({ message: expect.stringMatching(answer) });
  });
});

describe('the trip planner books', () => {
  it.each([
    ['Book a flight to Helsinki', 'flight', 'Helsinki'],
    ['Please reserve me two plane tickets from Lisbon to rovaniemi', 'flight', 'Rovaniemi'],
    ['预订飞往赫尔辛基的航班', 'flight', 'Helsinki'],
  ])('%j', async (said, kind, place) => {
    expect(await outcome(said)).toEqual({
      state: 'COMPLETED',
      booked: { kind, place, code: `CODE-${kind}` },
    });
  });

  it.each([
    ['Book a hotel', 'hotel'],
    ['Based on Task 1, book a snowmobile activity', 'snowmobile'],
  ])('%j for the flight that it refers to, or the only one', async (said, kind) => {
    const basedOn = { taskId: 't-1', artifactId: 'flight' };
    const booked = { kind, place: 'Helsinki', code: `CODE-${kind}`, basedOn };
    expect(await outcome(said, { contextTasks: [flight('t-1')] })).toEqual({ state: 'COMPLETED', booked });
    const references = { tasks: [flight('t-1')] };
    expect(await outcome(said, { references, contextTasks: [flight('t-0', 'Lisbon')] })).toMatchObject({
      booked,
    });
  });

  it('a spa when what it asks for also names the hotel', async () => {
    const hotel = {
      ...flight('t-2'),
      artifacts: [{ ...flight('t-2').artifacts![0]!, artifactId: 'hotel', name: 'hotel' }],
    };
    const references = { tasks: [hotel] };
    for (const said of ['Add a spa reservation to the hotel booking', '向酒店预订添加水疗预订']) {
      expect(await outcome(said, { references })).toMatchObject({
        booked: { kind: 'spa', basedOn: { taskId: 't-2', artifactId: 'hotel' } },
      });
    }
  });

  it('to the place that an answer gives', async () => {
    const messages = [user('Book a flight')];
    expect(await outcome('to Rovaniemi', { messages })).toMatchObject({ booked: { place: 'Rovaniemi' } });
  });
});

describe('the trip planner asks', () => {
  it.each<[string, string, RegExp, RunTurnOptions]>([
    ['where a flight goes', 'Book a flight', /^Where to\?/, {}],
    ['where a flight goes that goes where it does not fly', 'Book a flight to Mars', /^Where to\?/, {}],
    ['for a flight before a hotel', 'Book a hotel in Helsinki', /^Which flight is it for\?/, {}],
    [
      'which of two flights',
      'Book a hotel',
      /2 flight bookings/,
      { contextTasks: [flight('a'), flight('b')] },
    ],
    [
      'about a task that it does not know',
      'Book a hotel',
      /^I do not know t-9\./,
      { references: { missing: ['t-9'] } },
    ],
    [
      'about a task without that booking',
      'Add a spa',
      /^No hotel is booked/,
      { references: { tasks: [flight('a')] } },
    ],
    [
      'about a flight that was not booked in the end',
      'Book a hotel',
      /^No flight is booked/,
      { references: { tasks: [flight('a', 'Helsinki', 'CANCELED')] } },
    ],
  ])('%s', async (_, said, question, options) => {
    expect(await outcome(said, options)).toEqual({
      state: 'INPUT_REQUIRED',
      says: expect.stringMatching(question),
    });
  });
});

it('declines what there is not in a place', async () => {
  const contextTasks = [flight('a', 'Lisbon')];
  expect(await outcome('Book a snowmobile', { contextTasks })).toEqual({
    state: 'REJECTED',
    says: 'There is no snowmobile to be had in Lisbon.',
  });
});

it('does not reserve again what a process reserved before it died', async () => {
  const { updates } = await runTurn(agent, 'Book a flight to Helsinki', {
    attempt: 2,
    steps: { reserve: 'EARLIER' },
  });
  expect(updates).toMatchObject([{}, { artifact: { parts: [{}, { data: { code: 'EARLIER' } }] } }, {}]);
});

it('answers a text that names a place very often', async () => {
  const said = 'Helsinki or Lisbon '.repeat(50_000);
  expect(await outcome(said)).toEqual({ message: expect.stringMatching(/^In Lisbon/) });
});

describe('with an airline that confirms later, the trip planner', () => {
  const orders: Order[] = [];
  const airline = async (order: Order) => void orders.push(order);
  const { agent } = tripPlanner({ airline, reserve: async () => 'CODE' });

  it('orders a flight, and ends its turn', async () => {
    const { updates, callbacks, wakeAt } = await runTurn(agent, 'Book a flight to Helsinki');
    expect(updates).toMatchObject([{ status: { state: 'TASK_STATE_WORKING' } }]);
    expect(orders).toEqual([{ place: 'Helsinki', key: 'task', confirmTo: callbacks.confirmation?.url }]);
    expect(wakeAt).toBe(callbacks.confirmation?.expiresAt.toISOString());
  });

  it('books it when the confirmation comes, and orders it again when none does', async () => {
    const options = { woken: true, callbacks: { confirmation: { code: 'FL-1' } } };
    const { updates } = await runTurn(agent, 'Book a flight to Helsinki', options);
    expect(updates.at(-1)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    expect(JSON.stringify(updates)).toContain('Your flight to Helsinki is booked: FL-1');
    orders.length = 0;
    await runTurn(agent, 'Book a flight to Helsinki', { woken: true });
    expect(orders).toMatchObject([{ place: 'Helsinki', key: 'task' }]);
  });

  it('books all else at once', async () => {
    const { updates } = await runTurn(agent, 'Book a hotel', { contextTasks: [flight('t-1')] });
    expect(updates.at(-1)).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
  });
});
