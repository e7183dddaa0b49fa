import type { Fact } from '@batonjs/lifecycle';
import { weigh } from '@batonjs/lifecycle/internals';
import { describe, expect, it } from 'vitest';
import { cutPage } from '../../src/adapter.ts';
import type { ListedTask } from '../../src/index.ts';

const fact: Fact = { format: 1, at: '2026-01-01T00:00:00.000Z', type: 'woken' };
const listed = (taskId: string) =>
  ({ taskId, fact: { version: 1, commitId: 'c', fact } }) as unknown as ListedTask;
const found = ['a', 'b', 'c', 'd'].map(listed);
const bytes = weigh(fact);
const idsOf = ({ tasks }: ReturnType<typeof cutPage>) => tasks.map(({ taskId }) => taskId).join('');

describe('a page', () => {
  it.each([
    ['ends at its limit', { limit: 3 }, 'abc', undefined],
    ['ends with what was found', { limit: 9 }, 'abcd', undefined],
    ['may have exactly so many bytes', { limit: 3, bytes: bytes * 3 }, 'abc', undefined],
    ['ends before the task that is too much', { limit: 3, bytes: bytes * 3 - 1 }, 'ab', true],
    ['has one task, however large', { limit: 3, bytes: 1 }, 'a', true],
    ['of one task is not cut, however large that is', { limit: 1, bytes: 1 }, 'a', undefined],
  ])('%s', (_, query, ids, isCut) => {
    const page = cutPage(found, query, 10);
    expect([idsOf(page), page.isCut, page.total]).toEqual([ids, isCut, 10]);
  });

  it('counts nothing for a task without its fact', () => {
    const bare = found.map(({ fact: _, ...task }) => task as ListedTask);
    expect(idsOf(cutPage(bare, { limit: 4, bytes: 1 }, 4))).toBe('abcd');
  });
});
