import { expect, it } from 'vitest';
import { isAllowed } from '../../scripts/release/licences.ts';

it.each([
  ['MIT', true],
  ['(MPL-2.0 OR Apache-2.0)', true],
  ['(Apache-2.0 AND BSD-3-Clause)', true],
  ['(MIT AND GPL-3.0-only)', false],
  ['GPL-3.0-only', false],
  ['Unknown', false],
])('a dependency under %s may come along: %s', (expression, expected) => {
  expect(isAllowed(expression)).toBe(expected);
});
