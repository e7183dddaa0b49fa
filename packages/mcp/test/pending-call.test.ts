import type { Json, Part } from '@batonjs/protocol';
import type { Turn } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { pendingOf } from '../src/tools/pending-call.ts';

/** What a server with this question reads when the user sends these parts; undefined: the user is asked again. */
function responseTo(request: object, ...parts: (string | Json)[]) {
  const pending = { step: 's', args: {}, round: 0, requests: { asked: request }, responses: {} };
  const question = {
    messageId: 'q',
    role: 'ROLE_AGENT',
    parts: [{ text: 'A question' }],
    metadata: { 'batonjs.dev/mcp-call': pending },
  };
  const answer = {
    messageId: 'a',
    role: 'ROLE_USER',
    parts: parts.map((part): Part => (typeof part === 'string' ? { text: part } : { data: part })),
  };
  const messages = parts.length > 0 ? [question, answer] : [question];
  return pendingOf({ messages } as unknown as Turn, 's', {})?.responses.asked;
}

const form = (properties: object, ...required: string[]) => ({
  message: 'A question',
  requestedSchema: { type: 'object', properties, required },
});
const text = { type: 'string' };
const accepted = (content: object) => ({ action: 'accept', content });
const declined = { action: 'decline' };
const cancelled = { action: 'cancel' };
const askedAgain = undefined;

const url = { message: 'Sign in', url: 'https://example.com' };
const withoutFields = {
  'a form without fields': form({}),
  'a form without a schema': { message: 'Sure?' },
  'a form whose schema is no object': { message: 'Sure?', requestedSchema: 'none' },
};

describe.each(Object.entries(withoutFields))('%s', (_what, request) => {
  it.each([
    ['yes', accepted({})],
    ['Yes.', accepted({})],
    ['approve', accepted({})],
    ['no', declined],
    ['No!', declined],
    ['yes, but not today', askedAgain],
    ['What is that?', askedAgain],
    [{ action: 'accept' }, accepted({})],
    [{ action: 'decline' }, declined],
    [{ action: 'cancel' }, cancelled],
    [{ action: 'other' }, askedAgain],
    [{ sure: true }, askedAgain],
    [{}, askedAgain],
  ])('is answered with %j', (answer, response) => {
    expect(responseTo(request, answer)).toEqual(response);
  });
});

describe('an address to open', () => {
  it.each([
    ['yes', { action: 'accept' }],
    ['no', declined],
    ['Later', askedAgain],
    [{ action: 'accept' }, { action: 'accept' }],
    [{ action: 'cancel' }, cancelled],
    [{ url: 'https://example.com' }, askedAgain],
  ])('is answered with %j', (answer, response) => {
    expect(responseTo(url, answer)).toEqual(response);
  });
});

describe('a form whose fields are all optional', () => {
  const optional = form({ city: text, nights: { type: 'integer' } });
  it.each([
    ['no', declined],
    ['Decline.', declined],
    ['yes', accepted({})],
    ['Rome', askedAgain],
    [{}, accepted({})],
    [{ city: 'Rome' }, accepted({ city: 'Rome' })],
    [{ approved: false }, askedAgain],
    [{ nights: 'two' }, askedAgain],
    [{ action: 'decline' }, declined],
    [{ action: 'cancel', city: 'Rome' }, cancelled],
    [{ action: 'accept', content: { city: 'Rome' } }, accepted({ city: 'Rome' })],
  ])('is answered with %j', (answer, response) => {
    expect(responseTo(optional, answer)).toEqual(response);
  });

  it('takes data over words', () => {
    expect(responseTo(optional, 'no', { city: 'Rome' })).toEqual(accepted({ city: 'Rome' }));
  });
});

describe('a form with required fields', () => {
  const place = form({ city: text, nights: { type: 'integer' } }, 'city', 'nights');
  it.each([
    ['no', declined],
    ['yes', askedAgain],
    [{ action: 'accept' }, askedAgain],
    [{ city: 'Rome' }, askedAgain],
    [{ action: 'decline' }, declined],
  ])('is answered with %j', (answer, response) => {
    expect(responseTo(place, answer)).toEqual(response);
  });
});

describe('a form with one field', () => {
  it.each([
    ['a text', text, 'Rome', accepted({ field: 'Rome' })],
    ['a text', text, 'no', declined],
    ['a text', text, { field: 'no' }, accepted({ field: 'no' })],
    ['a text', text, { action: 'accept', content: { field: 'no' } }, accepted({ field: 'no' })],
    ['a choice', { ...text, enum: ['yes', 'no'] }, 'no', accepted({ field: 'no' })],
    ['a titled choice', { ...text, oneOf: [{ const: 'no', title: 'No' }] }, 'no', accepted({ field: 'no' })],
    ['a choice', { ...text, enum: ['red', 'blue'] }, 'no', declined],
    ['a boolean', { type: 'boolean' }, 'No.', accepted({ field: false })],
    ['a boolean', { type: 'boolean' }, 'ok', accepted({ field: true })],
    ['a boolean', { type: 'boolean' }, 'decline', declined],
    ['a boolean', { type: 'boolean' }, 'Perhaps', askedAgain],
    ['a number', { type: 'number' }, '2', accepted({ field: 2 })],
    ['a number', { type: 'number' }, 'no', declined],
    ['a number', { type: 'number' }, 'two', askedAgain],
    ['an unknown type', { type: 'mystery' }, 'no', declined],
    ['an unknown type', { type: 'mystery' }, 'x', accepted({ field: 'x' })],
  ])('that is %s %j is answered with %j', (_what, field, answer, response) => {
    expect(responseTo(form({ field }, 'field'), answer)).toEqual(response);
  });

  it('named action takes an action for its value, and a no declines it', () => {
    const named = form({ action: text }, 'action');
    expect(responseTo(named, { action: 'decline' })).toEqual(accepted({ action: 'decline' }));
    expect(responseTo(named, 'no')).toEqual(declined);
  });

  it('does not run its pattern', () => {
    const words = `${'a'.repeat(40)}!`;
    const named = form({ name: { ...text, pattern: '^(a+)+$' } });
    expect(responseTo(named, words)).toEqual(accepted({ name: words }));
  });
});

it.each([
  ['an address', url],
  ['a form without fields', form({})],
  ['a form', form({ city: text })],
])('%s is not answered before the user says something', (_what, request) => {
  expect(responseTo(request)).toBe(askedAgain);
});
