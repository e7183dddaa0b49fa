import type { Task } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { questionOf } from '../../src/translation/question.ts';

/** A task that asks with these words, and a form where a schema is given. */
const asking = (text: string, schema?: object, initial?: unknown): Task => {
  const form = { data: { formId: 'f', schema, initial }, mediaType: 'application/vnd.batonjs.form+json' };
  const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }, ...(schema ? [form] : [])] };
  return {
    id: 't',
    contextId: 'c',
    status: { state: 'TASK_STATE_INPUT_REQUIRED', message },
  } as unknown as Task;
};

const shown = (schema: object, initial?: unknown) =>
  questionOf(asking('Which?', schema, initial)).requestedSchema;
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const textField = {
  type: 'object',
  properties: { answer: { type: 'string', title: 'Answer' } },
  required: ['answer'],
};

describe('the fields of a question', () => {
  const all = {
    title: 'T',
    description: 'D',
    minLength: 1,
    maxLength: 9,
    minimum: 2,
    maximum: 8,
    pattern: 'x',
  };
  const [title, description] = ['T', 'D'];

  it.each<[string, object, object]>([
    [
      'a text',
      { type: 'string', ...all },
      { type: 'string', title, description, minLength: 1, maxLength: 9 },
    ],
    ['a number', { type: 'number', ...all }, { type: 'number', title, description, minimum: 2, maximum: 8 }],
    [
      'an integer',
      { type: 'integer', ...all },
      { type: 'integer', title, description, minimum: 2, maximum: 8 },
    ],
    ['a yes or no', { type: 'boolean', ...all }, { type: 'boolean', title, description }],
    ['a choice', { type: 'string', enum: ['a', 'b'] }, { type: 'string', enum: ['a', 'b'] }],
    ['one choice', { type: 'string', const: 'a' }, { type: 'string', enum: ['a'] }],
    ['a number of a format', { type: 'number', format: 'email' }, { type: 'number' }],
    ['a text of another format', { type: 'string', format: 'ipv4' }, { type: 'string' }],
    ...['email', 'uri', 'date', 'date-time'].map((format): [string, object, object] => [
      `a text of the format ${format}`,
      { type: 'string', format },
      { type: 'string', format },
    ]),
  ])('that is %s has what elicitation knows', (_what, field, flat) => {
    expect(shown(object({ x: field }))).toStrictEqual(object({ x: flat }, { required: [] }));
  });

  it.each<[string, object, unknown, unknown]>([
    ['its default', { type: 'string', default: 'a' }, undefined, 'a'],
    ['what is known', { type: 'string', default: 'a' }, { x: 'b' }, 'b'],
    ['no text for a number', { type: 'number', default: 'a' }, undefined, undefined],
    ['a no', { type: 'boolean', default: true }, { x: false }, false],
  ])('begin with %s', (_what, field, initial, value) => {
    const { x } = shown(object({ x: field }), initial).properties as { x?: object };
    const { type } = field as { type: string };
    expect(x).toStrictEqual({ type, ...(value !== undefined && { default: value }) });
  });

  it('are required where the form says so, and they are fields', () => {
    const fields = object({ x: { type: 'string' }, y: { type: 'string' } });
    expect(shown({ ...fields, required: ['y', 'z', 7, 'toString'] })).toMatchObject({ required: ['y'] });
    expect(shown({ ...fields, required: 'x' })).toMatchObject({ required: [] });
  });

  it.each<[string, object]>([
    ['a second field that no one knows', object({ x: { type: 'string' }, y: { type: 'array' } })],
    ['an object inside', object({ x: object({ y: { type: 'string' } }) })],
    ['choices that are no texts', object({ x: { enum: ['a', 1] } })],
    ['choices of numbers', object({ x: { type: 'number', enum: [1, 2] } })],
    ['no fields', object({})],
    ['no properties', { type: 'object' }],
  ])('are one field of text for a form with %s', (_what, schema) => {
    expect(shown(schema)).toStrictEqual(textField);
  });
});

describe('the answer to a question', () => {
  it('is what was entered in the form', () => {
    const { message, toMessage } = questionOf(asking('Which?', object({ x: { type: 'string' } })));
    expect(message).toBe('Which?');
    expect(JSON.stringify(toMessage({ x: 'a' }))).toContain('"values":{"x":"a"}');
    expect(JSON.stringify(toMessage(undefined))).toContain('"values":{}');
  });

  it('is the text of the one field', () => {
    const { message, requestedSchema, toMessage } = questionOf(asking(''));
    expect([message, requestedSchema]).toStrictEqual(['The agent waits for an answer.', textField]);
    expect(toMessage({ answer: 'red' })).toMatchObject({ parts: [{ text: 'red' }] });
    for (const content of [undefined, {}])
      expect(toMessage(content)).toMatchObject({ parts: [{ text: '' }] });
  });
});
