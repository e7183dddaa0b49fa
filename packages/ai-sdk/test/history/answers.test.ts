import type { Message, Part } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { answersTo } from '../../src/history/answers.ts';
import type { PendingCall } from '../../src/history/pending-call.ts';

const said = (...parts: Part[]): Message => ({ messageId: 'm', role: 'ROLE_USER', parts });

const call = (needs: PendingCall['needs'], toolCallId = 'c', more: object = {}): PendingCall => ({
  toolCallId,
  toolName: 'tool',
  input: {},
  needs,
  ...more,
});

const answers = (pending: readonly PendingCall[], ...messages: Message[]) => {
  const { role, content } = answersTo(pending, messages);
  expect(role).toBe('tool');
  return content;
};

const decision = (approved: boolean, reason?: string, approvalId = 'c') => ({
  type: 'tool-approval-response',
  approvalId,
  approved,
  ...(reason !== undefined && { reason }),
});

describe('an approval', () => {
  it.each<[string, Part[], object]>([
    ...['yes', 'y', 'ok', 'approve', 'approved', 'allow', ' YES\n'].map((text): [string, Part[], object] => [
      text,
      [{ text }],
      decision(true),
    ]),
    ...['no', 'n', 'deny', 'denied', 'reject', 'Rejected'].map((text): [string, Part[], object] => [
      text,
      [{ text }],
      decision(false),
    ]),
    ['another text', [{ text: 'Yes, but' }, { text: 'tomorrow' }], decision(false, 'Yes, but\ntomorrow')],
    ['no text', [{ text: ' ' }], decision(false)],
    ['true', [{ data: { c: true } }], decision(true)],
    ['false', [{ data: { c: false } }, { text: 'yes' }], decision(false)],
    ['a decision', [{ data: { c: { approved: true } } }], decision(true)],
    ['a decision that is none', [{ data: { c: { approved: 'yes' } } }], decision(false)],
    ['a reason', [{ data: { c: { approved: false, reason: 'Too far' } } }], decision(false, 'Too far')],
    ['a yes with a reason', [{ data: { c: { approved: true, reason: 'Go' } } }], decision(true, 'Go')],
    ['an empty reason', [{ data: { c: { reason: '' } } }], decision(false)],
    ['a reason that is no text', [{ data: { c: { reason: 7 } } }], decision(false)],
    ['a yes beside null', [{ data: { c: null } }, { text: 'yes' }], decision(true)],
    ['a no with a reason', [{ text: 'No: too far' }], decision(false, 'No: too far')],
    ['a number and a yes', [{ data: { c: 1 } }, { text: 'yes' }], decision(false, 'yes')],
    ['a decision about all', [{ data: { approved: true } }], decision(true)],
    ['no decision about all', [{ data: { approved: 1, reason: 'Why' } }], decision(false)],
    ['a yes beside other data', [{ data: { other: true } }, { text: 'yes' }], decision(true)],
    ['data that is a list', [{ data: [true] }, { text: 'yes' }], decision(true)],
    ['data that is null', [{ data: null }, { text: 'yes' }], decision(true)],
    ['data that is a text', [{ data: 'c' }, { text: 'yes' }], decision(true)],
    ['later data', [{ data: { c: true } }, { data: { c: false } }], decision(false)],
    ['a form', [{ data: { formId: 'f', values: { c: true } } }], decision(true)],
    ['a form with values that are none', [{ data: { formId: 'f', values: null, c: true } }], decision(true)],
    ['values without a form', [{ data: { values: { c: true } } }], decision(false)],
    ['an inherited member', [{ data: { formId: 'f', values: 7, toString: 1 } as never }], decision(false)],
  ])('is read from %s', (_what, parts, decided) => {
    expect(answers([call('approval')], said(...parts))).toStrictEqual([decided]);
  });

  it('is denied where the user said nothing yet, or was asked by another agent', () => {
    expect(answers([call('approval')])).toStrictEqual([decision(false, 'The user has not answered yet')]);
    expect(answers([call('approval'), call('answer', 'd')], said({ text: 'yes' }))).toStrictEqual([
      decision(false, 'The user was not asked yet'),
      decision(true, undefined, 'd'),
    ]);
  });

  it('has its own id where the call has one', () => {
    const pending = [call('approval', 'c', { approvalId: 'a' }), call('approval', 'd', { approvalId: 'b' })];
    expect(answers(pending, said({ data: { c: true, d: false } }))).toStrictEqual([
      decision(true, undefined, 'a'),
      decision(false, undefined, 'b'),
    ]);
  });

  it.each(['__proto__', 'constructor', 'toString'])('is not given by a call that is named %s', (id) => {
    expect(answers([call('approval', id)], said({ text: 'no' }))).toStrictEqual([
      decision(false, undefined, id),
    ]);
    const data = JSON.parse(`{ "${id}": true }`);
    expect(answers([call('approval', id)], said({ data }))).toStrictEqual([decision(true, undefined, id)]);
  });
});

describe('the output of a tool that the client runs', () => {
  const output = (value: object, toolCallId = 'c') => ({
    type: 'tool-result',
    toolCallId,
    toolName: 'tool',
    output: value,
  });

  it.each<[string, Part[], object]>([
    ['a text', [{ text: ' 7 ' }, { text: 'degrees' }], { type: 'text', value: '7 \ndegrees' }],
    ['data of the call', [{ data: { c: { a: 1 }, b: 2 } }], { type: 'json', value: { a: 1 } }],
    ['data', [{ data: { a: 1 } }, { data: { b: 2 } }], { type: 'json', value: { a: 1, b: 2 } }],
    ['data without members', [{ data: {} }, { text: 'x' }], { type: 'text', value: 'x' }],
    ['null', [{ data: { c: null } }], { type: 'json', value: { c: null } }],
    ['nothing', [], { type: 'text', value: '' }],
  ])('is read from %s', (_what, parts, value) => {
    expect(answers([call('output')], said(...parts))).toStrictEqual([output(value)]);
  });

  it('is an error where the user said nothing yet', () => {
    expect(answers([call('output')])).toStrictEqual([
      output({ type: 'error-text', value: 'The user has not answered yet' }),
    ]);
  });

  it('is not all of the data where two tools wait', () => {
    expect(
      answers([call('output'), call('output', 'd')], said({ data: { c: 1 } }, { text: 'x' })),
    ).toStrictEqual([output({ type: 'json', value: 1 }), output({ type: 'text', value: 'x' }, 'd')]);
    expect(answers([call('output'), call('approval', 'd')], said({ data: { a: 1 } }))).toStrictEqual([
      output({ type: 'json', value: { a: 1 } }),
      decision(false, undefined, 'd'),
    ]);
  });
});
