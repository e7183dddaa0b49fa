import { expect, it } from 'vitest';
import { retentionLog } from '../src/index.ts';

it('the log of retention has the name under which earlier releases hold its lease', () => {
  expect(retentionLog).toBe('baton:retention');
});
