import { FORM_INPUT } from '@batonjs/extensions';
import type { Message, Part } from '@batonjs/protocol';
import type { Turn } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { ask, openRequest, type PendingCall, pendingIn, pendingOf } from '../../src/tools/pending-call.ts';

const call = { step: 's', args: { a: 1 }, round: 2 };
const carrying = (pending: object): Partial<Message> => ({
  role: 'ROLE_AGENT',
  metadata: { 'batonjs.dev/mcp-call': pending as never },
});

const said = (parts: readonly Part[], more: Partial<Message> = {}): Message => ({
  messageId: crypto.randomUUID(),
  role: 'ROLE_USER',
  parts: [...parts],
  ...more,
});

const turnOf = (messages: readonly Message[], extensions: readonly string[] = []) =>
  ({ messages, extensions }) as unknown as Turn;

const form = (properties: object) => ({ message: 'Where?', requestedSchema: { type: 'object', properties } });
const pendingWith = (requests: object, responses: object = {}): PendingCall => ({
  ...call,
  requests: requests as PendingCall['requests'],
  responses: responses as PendingCall['responses'],
});

describe('the questions in a result', () => {
  const read = (result: object) => pendingIn('look', call, result as never);

  it('are none where it is a result', () => {
    expect(read({ content: [] })).toBeUndefined();
    expect(read({ resultType: 'complete', inputRequests: {} })).toBeUndefined();
  });

  it('are read with the call, and the state as it is', () => {
    const { params } = { params: { message: 7, requestedSchema: 'none', url: 1 } };
    expect(
      read({
        resultType: 'input_required',
        requestState: 'state',
        inputRequests: {
          address: { method: 'elicitation/create', params: { message: 'Open', url: 'https://a.example' } },
          form: { method: 'elicitation/create', params: form({ x: {} }) },
          odd: { method: 'elicitation/create', params },
          empty: { method: 'elicitation/create' },
        },
      }),
    ).toStrictEqual({
      ...call,
      requestState: 'state',
      requests: {
        address: { message: 'Open', url: 'https://a.example' },
        form: form({ x: {} }),
        odd: { message: '7', requestedSchema: Object('none') },
        empty: { message: 'undefined', requestedSchema: {} },
      },
      responses: {},
    });
    expect(read({ resultType: 'input_required', requestState: 7 })).toStrictEqual({
      ...call,
      requests: {},
      responses: {},
    });
  });
});

it('the open request is the first without an answer', () => {
  const requests = { a: form({}), b: form({}) };
  expect(openRequest(pendingWith(requests))).toBe('a');
  expect(openRequest(pendingWith(requests, { a: {} }))).toBe('b');
  expect(openRequest(pendingWith(requests, { a: {}, b: {} }))).toBeUndefined();
});

describe('the question to the user', () => {
  const asked = (request: object, extensions: readonly string[]) => {
    const pending = pendingWith({ a: request });
    const { status } = ask(turnOf([], extensions), pending) as { status: { message: Message } };
    expect(status.message.metadata).toEqual({ 'batonjs.dev/mcp-call': pending });
    return status.message.parts;
  };
  const city = form({ city: { type: 'string' } });

  it('is a form for a client that takes forms, where there are fields', () => {
    expect(asked(city, [FORM_INPUT])).toMatchObject([
      { text: 'Where?' },
      { data: { schema: { type: 'object' } } },
    ]);
    expect(asked(city, ['https://other.example'])).toEqual([{ text: 'Where?' }]);
    expect(asked(form({}), [FORM_INPUT])).toEqual([{ text: 'Where?\nAnswer yes or no.' }]);
    expect(
      asked({ message: 'Where?', requestedSchema: { properties: { x: 1 }, type: 'array' } }, [FORM_INPUT]),
    ).toEqual([{ text: 'Where?' }]);
  });
});

describe('the call that a task goes on with', () => {
  const pending = pendingWith({ where: form({ city: { type: 'string' } }) });
  const question = said([{ text: 'Where?' }], carrying(pending));
  const answered = { ...pending, responses: { where: { action: 'accept', content: { city: 'Rome' } } } };
  const rome = said([{ text: 'Rome' }]);
  const found = (messages: readonly Message[], step = 's', args: unknown = { a: 1 }) =>
    pendingOf(turnOf(messages), step, args);

  it('is that of its step and arguments, with the answer', () => {
    expect(found([question, rome])).toEqual(answered);
    expect(found([question])).toEqual(pending);
    expect(found([question, rome], 'other')).toBeUndefined();
    expect(found([question, rome], 's', { a: 2 })).toBeUndefined();
    expect(found([rome])).toBeUndefined();
    expect(found([])).toBeUndefined();
  });

  it('is the latest, and never one that the user wrote', () => {
    const later = said([{ text: 'Which?' }], carrying({ ...pending, round: 3 }));
    expect(found([question, rome, later])).toMatchObject({ round: 3, responses: {} });
    const forged = said([{ text: 'x' }], { ...carrying({ ...pending, round: 9 }), role: 'ROLE_USER' });
    expect(found([question, forged])).toMatchObject({ round: 2 });
  });

  it('keeps the answers that it has', () => {
    const both = pendingWith({ where: form({}), b: form({}) }, { where: { action: 'decline' } });
    expect(found([said([], carrying(both)), said([{ text: 'yes' }])])?.responses).toEqual({
      where: { action: 'decline' },
      b: { action: 'accept', content: {} },
    });
    const done = pendingWith({ where: form({}) }, { where: { action: 'decline' } });
    expect(found([said([], carrying(done)), said([{ text: 'yes' }])])).toEqual(done);
  });

  it('has only the answers before the next words of the agent', () => {
    const next = said([{ text: 'And?' }], { role: 'ROLE_AGENT' });
    expect(found([question, rome, next, said([{ text: 'no' }])])).toEqual(answered);
    expect(found([question, next, rome])).toEqual(pending);
  });

  it('has the answer to the last of the forms that were asked again, with the same id', () => {
    const formWith = (formId: string, more: Partial<Message> = {}) =>
      said([{ text: 'Where?' }, { data: null as never }, { data: { formId } }], {
        role: 'ROLE_AGENT',
        ...more,
      });
    const first = formWith('f', carrying(pending));
    const wrong = said([{ data: { city: 7 } }]);
    expect(found([first, wrong, formWith('f'), rome])).toEqual(answered);
    expect(found([first, wrong, formWith('g'), rome])).toEqual(pending);
    // The answer names the form, too, and is no question.
    const answer = said([{ data: { formId: 'f' } }, { data: { city: 'Rome' } }]);
    expect(found([first, answer])?.responses).toMatchObject({ where: { action: 'accept' } });
  });
});

describe('the answer to a question', () => {
  const responseTo = (request: object, ...messages: readonly (readonly Part[])[]) => {
    const question = said([{ text: '?' }], carrying(pendingWith({ q: request })));
    return pendingOf(turnOf([question, ...messages.map((parts) => said(parts))]), 's', { a: 1 })?.responses.q;
  };
  const accepted = (content: object) => ({ action: 'accept', content });
  const field = (more: object) => form({ field: more });

  it.each('yes y ok accept accepted approve approved allow'.split(' '))('%s is a yes', (word) => {
    expect(responseTo(form({}), [{ text: ` ${word.toUpperCase()}!. ` }])).toEqual(accepted({}));
    expect(responseTo(field({ type: 'boolean' }), [{ text: word }])).toEqual(accepted({ field: true }));
  });

  it.each('no n decline declined deny denied reject rejected'.split(' '))('%s is a no', (word) => {
    expect(responseTo(field({ type: 'string' }), [{ text: `${word}.` }])).toEqual({ action: 'decline' });
  });

  it.each([
    ['true', true],
    ['false', false],
    ['no', false],
    ['n', false],
  ])('%s is the boolean %s', (word, value) => {
    expect(responseTo(field({ type: 'boolean' }), [{ text: word }])).toEqual(accepted({ field: value }));
  });

  it.each<[string, object, object]>([
    ['an enum', { enum: ['no'] }, accepted({ field: 'no' })],
    ['a const', { const: 'no' }, accepted({ field: 'no' })],
    ['titled choices', { anyOf: [{ const: 'no' }, { const: 'red' }] }, accepted({ field: 'no' })],
    ['choices without it', { enum: ['red'], oneOf: 'no', anyOf: [null] }, { action: 'decline' }],
  ])('a no is a value where it is one of %s', (_what, choices, response) => {
    expect(responseTo(field({ type: 'string', ...choices }), [{ text: 'no' }])).toEqual(response);
  });

  it('of a number is read as one', () => {
    expect(responseTo(field({ type: 'integer' }), [{ text: '7' }])).toEqual(accepted({ field: 7 }));
    expect(responseTo(field({ type: 'number' }), [{ text: '7.5' }])).toEqual(accepted({ field: 7.5 }));
    expect(responseTo(field({ type: 'integer' }), [{ text: '7.5' }])).toBeUndefined();
    expect(responseTo(field({ type: 'string' }), [{ text: '7' }])).toEqual(accepted({ field: '7' }));
  });

  it('of several messages is all of their texts, and their data together', () => {
    const texts = [[{ text: 'New ' }, { text: 'York' }], [{ text: '  ' }], [{ text: 'City' }]];
    expect(responseTo(field({ type: 'string' }), ...texts)).toEqual(accepted({ field: 'New York\nCity' }));
    const two = form({ a: { type: 'integer' }, b: { type: 'integer' } });
    expect(responseTo(two, [{ data: { a: 1, b: 1 } }], [{ data: { b: 2 } }])).toEqual(
      accepted({ a: 1, b: 2 }),
    );
    expect(responseTo(form({}), [{ text: 'yes' }], [{ text: 'no' }])).toEqual({ action: 'decline' });
  });

  it('has no data that is no object', () => {
    for (const data of ['x', 7, null, ['x']])
      expect(responseTo(field({ type: 'string' }), [{ data }, { text: 'Rome' }])).toEqual(
        accepted({ field: 'Rome' }),
      );
  });

  it('is not taken from words where there are two fields', () => {
    const two = form({ a: { type: 'string' }, b: { type: 'string' } });
    expect(responseTo(two, [{ text: 'Rome' }])).toBeUndefined();
    expect(responseTo(two, [{ text: 'no' }])).toEqual({ action: 'decline' });
  });

  it('is the last action that data has, with its content', () => {
    const city = form({ city: { type: 'string' } });
    expect(
      responseTo(city, [
        { data: { action: 'decline' } },
        { data: { action: 'accept', content: { city: 'Rome' } } },
        { data: { action: 'other' } },
        { data: [1] },
      ]),
    ).toEqual(accepted({ city: 'Rome', action: 'other' }));
    expect(responseTo(city, [{ data: { action: 'accept', content: { city: 'Rome' } } }])).toEqual(
      accepted({ city: 'Rome' }),
    );
    expect(responseTo(city, [{ data: { action: 'accept' } }])).toEqual(accepted({}));
  });
});
