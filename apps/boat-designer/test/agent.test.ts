import type { Artifact, Message, Part, Task } from '@batonjs/server';
import { type RunTurnOptions, runTurn } from '@batonjs/testing';
import { describe, expect, it } from 'vitest';
import { growthOf } from '../../../test/support/growth.ts';
import { designIn } from '../src/design.ts';
import { designBoat } from '../src/index.ts';

const boat = (id: string, design: object = {}): Task => ({
  id,
  contextId: 'context',
  status: { state: 'TASK_STATE_COMPLETED' },
  artifacts: [
    {
      artifactId: `boat-${id}`,
      name: 'sailboat_image.png',
      description: `Boat ${id}`,
      parts: [],
      metadata: { design },
    },
  ],
});
const pointer = ({ id, artifacts }: Task) => ({ taskId: id, artifact: artifacts?.[0] as Artifact });

/** The picture's description and design, or the state and the agent's text. */
async function outcome(said: string | Message, options: RunTurnOptions = {}) {
  const { updates } = await runTurn(designBoat, said, options);
  const artifact = updates.flatMap((update) => ('artifact' in update ? update.artifact : []))[0];
  if (artifact) return { description: artifact.description, design: artifact.metadata?.design };
  const last = updates.at(-1);
  if (!last || !('status' in last)) throw new Error('Nothing happened');
  const { state, message } = last.status;
  return { state, parts: message?.parts as Part[] };
}

const asks = (text: RegExp, ...candidates: string[]) => ({
  state: 'TASK_STATE_INPUT_REQUIRED',
  parts: [
    { text: expect.stringMatching(text) },
    { data: { candidates: candidates.map((id) => ({ taskId: id, artifactId: `boat-${id}` })) } },
  ],
});

describe('the boat designer draws', () => {
  it.each<[string, string, object]>([
    ['Generate an image of a sailboat on the ocean.', 'a sailboat on', {}],
    ['Draw an orange sailboat', 'an orange sailboat on', { hull: 'orange' }],
    [
      'a blue boat with yellow sails',
      'a blue sailboat with yellow sails on',
      { hull: 'blue', sails: 'yellow' },
    ],
    ['sails in Gray, hull white', 'a white sailboat with grey sails on', { hull: 'white', sails: 'grey' }],
    ['画一艘红色的帆船,白帆', 'a red sailboat with white sails on', { hull: 'red', sails: 'white' }],
    ['coloured', 'a sailboat on', {}],
  ])('%j', async (said, description, design) => {
    expect(await outcome(said)).toEqual({
      description: `A generated image of ${description} the ocean.`,
      design,
    });
  });

  it('a new one beside others when it is asked for a new one', async () => {
    const contextTasks = [boat('one', { hull: 'red' }), boat('two')];
    expect(await outcome('Generate another sailboat', { contextTasks })).toMatchObject({ design: {} });
  });
});

describe('the boat designer refines', () => {
  const red = boat('red', { hull: 'red', sails: 'pink' });

  it('the only boat around, and keeps what is not changed', async () => {
    expect(await outcome('make it blue', { contextTasks: [red] })).toMatchObject({
      design: { hull: 'blue', sails: 'pink' },
    });
  });

  it.each([
    ['the task', { tasks: [red] }],
    ['the artifact', { tasks: [red], artifacts: [pointer(red)] }],
  ])('what the message refers to by %s, whatever else is there', async (_, references) => {
    const contextTasks = [boat('one'), red, boat('two')];
    expect(await outcome('green sails', { contextTasks, references })).toMatchObject({
      design: { hull: 'red', sails: 'green' },
    });
  });

  it('what an answer refers to, as the question had it', async () => {
    const messages = [{ messageId: 'm-1', role: 'ROLE_USER' as const, parts: [{ text: 'make it blue' }] }];
    const references = { tasks: [red], artifacts: [pointer(red)] };
    expect(await outcome('the red one', { messages, references })).toMatchObject({
      design: { hull: 'blue', sails: 'pink' },
    });
  });

  it('what an answer counts out', async () => {
    const contextTasks = [boat('one'), red];
    const { parts } = (await outcome('make it blue', { contextTasks })) as { parts: Part[] };
    const messages: Message[] = [
      { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'make it blue' }] },
      { messageId: 'm-2', role: 'ROLE_AGENT', parts },
    ];
    const late = [...contextTasks, boat('late')];
    expect(await outcome('number 2, please', { messages, contextTasks: late })).toMatchObject({
      design: { hull: 'blue', sails: 'pink' },
    });
    expect(await outcome('7', { messages, contextTasks })).toEqual(asks(/^Which/, 'one', 'red'));
  });
});

describe('the boat designer asks', () => {
  it('which of two boats is meant', async () => {
    expect(await outcome('make it red', { contextTasks: [boat('one'), boat('two')] })).toEqual(
      asks(/^Which boat do you mean\?.*\n1\. Boat one\n2\. Boat two$/, 'one', 'two'),
    );
  });

  it('which of two boats that the message refers to', async () => {
    const tasks = [boat('one'), boat('two')];
    expect(await outcome('make it red', { references: { tasks } })).toEqual(asks(/^Which/, 'one', 'two'));
  });

  it('about what it does not know', async () => {
    const references = { tasks: [boat('one')], missing: ['nobody'] };
    expect(await outcome('make it red', { references, contextTasks: [boat('one')] })).toEqual(
      asks(/^I do not know nobody\. Which boat/, 'one'),
    );
  });

  it('about a reference to a task without a boat', async () => {
    const tasks = [{ ...boat('talk'), artifacts: [] }];
    expect(await outcome('make it red', { references: { tasks } })).toEqual(
      asks(/no boat in what you refer to/),
    );
  });

  it('for a boat when there is none to change, and draws one when asked', async () => {
    const question = await outcome('Please modify the sailboat to be red.');
    expect(question).toEqual(asks(/Shall I draw a new one/));
    const messages: Message[] = [
      { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'Please modify the sailboat to be red.' }] },
    ];
    expect(await outcome('yes', { messages })).toMatchObject({ design: { hull: 'red' } });
  });
});

it('declines a change that it cannot make', async () => {
  expect(await outcome('make it faster', { contextTasks: [boat('one')] })).toMatchObject({
    state: 'TASK_STATE_REJECTED',
  });
});

it.each([null, 7, 'red', { hull: 'plaid', sails: 7 }, []])(
  'draws from a design that is none: %j',
  async (design) => {
    expect(await outcome('make it red', { contextTasks: [boat('odd', design as object)] })).toMatchObject({
      design: { hull: 'red' },
    });
  },
);

describe('the boat designer reads a text', () => {
  it.each([
    ['colours', 'red '],
    ['colours between spaces', `red${' '.repeat(99)}`],
    ['boats and colours', 'boat red '],
    ['boats', 'sails '],
    ['colours in Chinese', '红帆'],
  ])('of many %s in a time that grows with its length', (_what, piece) => {
    const read = (length: number) => void designIn(piece.repeat(length / piece.length));
    expect(growthOf(read, 10_000)).toBeLessThan(8);
  });

  it('up to 4,000 characters', async () => {
    expect(await outcome('Draw a red boat'.padStart(4_000))).toMatchObject({ design: { hull: 'red' } });
    expect(await outcome(`Draw ${'a red boat'.padStart(4_000)}`)).toMatchObject({ design: {} });
  });
});
