import { type AgentClient, textOf } from '@batonjs/client';
import type { Task } from '@batonjs/protocol';
import { type Agent, artifact, completed, data, inputRequired } from '@batonjs/server';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  acceptMode,
  declineMode,
  INTERACTION_MODE,
  MODE_OFFER_TYPE,
  modeOfferOf,
  modesOf,
} from '../../src/client.ts';
import { extend, formInput, interactionMode, modeAnswerOf, offerMode } from '../../src/index.ts';
import { card, serve } from '../serve.ts';

const url = 'wss://talk.example/rooms/7';
const expiresAt = new Date('2999-01-01T00:00:00.000Z');

/** Offers to talk, and says what became of the offer. */
const guide: Agent = async function* (turn) {
  const { text, values } = turn;
  if (text === 'film') return yield offerMode('A film?', { mode: 'video', url });
  if (text === 'write') return yield offerMode('Shall we write?', { mode: 'text' });
  if (text === 'ask') return yield inputRequired('Where to?');
  const answer = modeAnswerOf(turn);
  if (!answer && turn.messages.length === 1) {
    return yield offerMode(`Shall we talk? ${url}`, { mode: 'audio', url, expiresAt });
  }
  yield artifact('outcome', data({ answer: answer?.isAccepted, mode: answer?.offer.mode, text, values }));
  yield completed();
};
const extended = extend({ card, agent: guide }, formInput, interactionMode({ modes: ['audio', 'text'] }));
const outcomeOf = (task: Task | undefined) => Object(task?.artifacts?.[0]?.parts[0]).data;

describe.each(['JSONRPC', 'HTTP+JSON'])('an offer of another mode over %s', (binding) => {
  let agent: AgentClient;
  beforeEach(async () => {
    agent = await serve(extended).client({ extensions: [INTERACTION_MODE], binding });
  });
  const offered = async () => (await agent.send('Show me around')).task!;

  it('is made with its address, beside the text, of a mode that the card lists [R-SEED-17]', async () => {
    expect(modesOf(agent.card)).toEqual(['audio', 'text']);
    const task = await offered();
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: {
        parts: [{ text: `Shall we talk? ${url}` }, { mediaType: MODE_OFFER_TYPE }],
        extensions: [INTERACTION_MODE],
      },
    });
    expect(modeOfferOf(task)).toEqual({ offerId: expect.any(String), mode: 'audio', url, expiresAt });
  });

  it.each([
    ['accepted', acceptMode, true],
    ['declined', declineMode, false],
  ])('is %s, and the agent learns of it', async (_, answer, isAccepted) => {
    const { task } = await agent.send(answer(await offered()));
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
    // The answer is no input of the agent's.
    expect(outcomeOf(task)).toEqual({ answer: isAccepted, mode: 'audio', text: '', values: {} });
  });

  it('is in the history with its answer', async () => {
    const first = await offered();
    await agent.send(acceptMode(first));
    const { history = [] } = await agent.getTask({ id: first.id });
    const { offerId } = modeOfferOf(first)!;
    expect(
      history.flatMap(({ parts }) => parts.flatMap((part) => ('data' in part ? [part.data] : []))),
    ).toEqual([
      { offer: { offerId, mode: 'audio', url, expiresAt: expiresAt.toISOString() } },
      { answer: { offerId, accepted: true } },
    ]);
  });

  it('may be answered in words', async () => {
    const { task } = await agent.send('Rather not', { task: await offered() });
    expect(outcomeOf(task)).toMatchObject({ text: 'Rather not' });
    expect(outcomeOf(task)).not.toHaveProperty('answer');
  });

  it('is made again after the answer to another one', async () => {
    const first = await offered();
    const [part] = acceptMode(first).parts;
    const wrong = JSON.parse(JSON.stringify(part).replace(modeOfferOf(first)!.offerId, 'another'));
    const { task: again } = await agent.send(wrong, { task: first });
    expect(modeOfferOf(again!)).toEqual(modeOfferOf(first));
    expect(textOf(again!.status.message)).toContain('Shall we talk?');
    expect(outcomeOf((await agent.send(acceptMode(again!))).task)).toMatchObject({ answer: true });
  });

  it.each<[string, object]>([
    ['no answer in it', {}],
    ['an answer that is text', { answer: 'yes' }],
    ['an answer without an id', { answer: { accepted: true } }],
    ['an answer that is no boolean', { answer: { offerId: 'x', accepted: 'yes' } }],
  ])('is not answered by a part with %s', async (_, given) => {
    const part = { data: given as never, mediaType: MODE_OFFER_TYPE };
    const { task } = await agent.send(part, { task: await offered() });
    expect(outcomeOf(task)).toEqual({ text: '', values: {} });
  });

  it('needs no address where the task itself is the channel', async () => {
    const { task } = await agent.send('write');
    expect(modeOfferOf(task!)).toEqual({ offerId: expect.any(String), mode: 'text' });
  });

  it('of a mode that the card does not list fails the task', async () => {
    const { task } = await agent.send('film');
    expect(task?.status.state).toBe('TASK_STATE_FAILED');
  });

  it('is no offer to a client without the extension, which gets the text and answers with text', async () => {
    const plain = await serve(extended).client({ binding });
    const { task } = await plain.send('Show me around');
    expect(task?.status.message?.parts).toEqual([{ text: `Shall we talk? ${url}` }]);
    expect(task?.status.message?.extensions).toBeUndefined();
    expect(modeOfferOf(task!)).toBeUndefined();
    expect(outcomeOf((await plain.send('Yes', { task: task! })).task)).toMatchObject({ text: 'Yes' });
  });
});

describe('an agent cannot offer', () => {
  it.each<[string, object]>([
    ['a mode that there is not', { mode: 'smell', url }],
    ['audio without an address', { mode: 'audio' }],
    ['video without an address', { mode: 'video' }],
    ['a relative address', { mode: 'audio', url: '/rooms/7' }],
    ['a script', { mode: 'audio', url: 'javascript:alert(1)' }],
    ['a file', { mode: 'form', url: 'file:///etc/passwd' }],
    ['an address with credentials', { mode: 'audio', url: 'wss://ada:secret@talk.example' }],
  ])('%s', (_, offer) => {
    expect(() => offerMode('Well?', offer as never)).toThrow(TypeError);
  });
});

describe('a client', () => {
  const waiting = (offer: unknown, state = 'TASK_STATE_INPUT_REQUIRED') =>
    ({
      id: 't',
      contextId: 'c',
      status: {
        state,
        message: {
          messageId: 'm',
          role: 'ROLE_AGENT',
          parts: [{ data: { offer }, mediaType: MODE_OFFER_TYPE }],
        },
      },
    }) as Task;
  const good = { offerId: 'o', mode: 'audio', url };

  it.each<[string, unknown]>([
    ['no offer', undefined],
    ['text', 'audio'],
    ['no id', { ...good, offerId: undefined }],
    ['an id that is a number', { ...good, offerId: 7 }],
    ['an unknown mode', { ...good, mode: 'smell' }],
    ['no address', { ...good, url: undefined }],
    ['an address that is a number', { ...good, url: 7 }],
    ['a script', { ...good, url: 'javascript:alert(1)' }],
    ['credentials in the address', { ...good, url: 'https://a:b@talk.example' }],
    ['a time that is none', { ...good, expiresAt: 'soon' }],
    ['a time that is a number', { ...good, expiresAt: 7 }],
  ])('reads no offer from %s of another agent [R-EXT-07]', (_, offer) => {
    expect(modeOfferOf(waiting(offer))).toBeUndefined();
    expect(() => acceptMode(waiting(offer))).toThrow(RangeError);
  });

  it('reads no offer from a task that does not wait', () => {
    expect(modeOfferOf(waiting(good, 'TASK_STATE_WORKING'))).toBeUndefined();
    expect(() => declineMode(waiting(good, 'TASK_STATE_COMPLETED'))).toThrow(RangeError);
  });

  it('declines an offer that has expired, and does not accept it', () => {
    const late = waiting({ ...good, expiresAt: '2020-01-01T00:00:00Z' });
    expect(() => acceptMode(late)).toThrow('expired at 2020-01-01T00:00:00.000Z');
    expect(declineMode(late)).toMatchObject({ taskId: 't', contextId: 'c' });
  });

  it.each([undefined, {}, { modes: 'audio' }, { modes: [] }])('knows no modes of params %j', (params) => {
    expect(modesOf({ capabilities: { extensions: [{ uri: INTERACTION_MODE, params }] } })).toEqual([]);
  });
});
