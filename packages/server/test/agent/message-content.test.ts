import { expect, it } from 'vitest';
import { data, dataOf, reply, text, textOf } from '../../src/index.ts';

it('reads the text and the data of a message or an artifact', () => {
  const message = reply(text('10 USD '), data({ rate: 0.9 }), 'is 9 EUR', data('second'));
  expect(textOf(message)).toBe('10 USD is 9 EUR');
  expect(dataOf({ parts: message.parts })).toEqual({ rate: 0.9 });
  expect([textOf(undefined), dataOf(undefined)]).toEqual(['', undefined]);
});
