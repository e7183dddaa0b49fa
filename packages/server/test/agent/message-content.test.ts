import { expect, it } from 'vitest';
import { valuesOf } from '../../src/agent/message-content.ts';
import { data, dataOf, reply, text, textOf } from '../../src/index.ts';

it('reads the text and the data of a message or an artifact', () => {
  const message = reply(text('10 USD '), data({ rate: 0.9 }), 'is 9 EUR', data('second'));
  expect(textOf(message)).toBe('10 USD is 9 EUR');
  expect(dataOf({ parts: message.parts })).toEqual({ rate: 0.9 });
  expect([textOf(undefined), dataOf(undefined)]).toEqual(['', undefined]);
});

it('reads the members of all data that clients sent, of which the later ones win', () => {
  const user = (...parts: object[]) => ({ messageId: 'm', role: 'ROLE_USER', parts }) as never;
  const polluting = JSON.parse('{"__proto__": {"a": 5}, "e": 5}') as object;
  const values = valuesOf([
    user({ data: { a: 1, b: 1 } }, { text: 'a' }, { data: null }, { data: [7] }, { data: 'text' }),
    reply(data({ a: 2, c: 2 })),
    user({ data: { b: 3, d: 3 } }, { data: polluting }),
  ]);
  expect(values).toStrictEqual({ a: 1, b: 3, d: 3, e: 5 });
  expect(Object.getPrototypeOf(values)).toBe(Object.prototype);
});
