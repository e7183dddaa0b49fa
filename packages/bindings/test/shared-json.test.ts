import { expect, it } from 'vitest';
import { SharedJson } from '../src/index.ts';

it('is made into text once, when it is first needed', () => {
  let made = 0;
  const json = new SharedJson({ toJSON: () => ({ made: ++made, line: 'a\nb' }) });
  expect(made).toBe(0);
  expect([json.text, json.text]).toEqual(['{"made":1,"line":"a\\nb"}', '{"made":1,"line":"a\\nb"}']);
});
