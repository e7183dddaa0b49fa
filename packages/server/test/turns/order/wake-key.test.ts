import { expect, it } from 'vitest';
import { toBase64Url } from '#bytes';
import { readWakeKey, wakeKeyOf } from '../../../src/turns/order/wake-time.ts';

it('a wake key names its task, whatever its scope is called', () => {
  for (const scope of ['s', '["agent","",""]', 'Zoë', ''])
    expect(readWakeKey(wakeKeyOf(scope, 't'))).toEqual({ scope, taskId: 't' });
});

it.each([
  '',
  'wake',
  '!',
  ...[[], ['s'], [1, 't'], ['s', 1], [null, 't'], {}, 's', null, 7].map((value) =>
    toBase64Url(JSON.stringify(value)),
  ),
])('any other text is refused, and not looked for in the store: %j', (key) =>
  expect(() => readWakeKey(key)).toThrow(
    expect.objectContaining({ reason: 'INVALID_PARAMS', message: 'This is not a wake key' }),
  ),
);
