import type { Head } from '@batonjs/lifecycle';
import { describe, expect, it } from 'vitest';
import type { TaskQuery } from '../../src/index.ts';
import type { TaskRow } from '../../src/port/rows.ts';
import type { TaskFilter } from '../../src/port/task-store.ts';
import {
  listed as found,
  isListed as isFound,
  isListedAlike,
  listPlace,
  listSearch,
  newestFirst,
  termsOf,
} from '../../src/rules/list.ts';
import { head, row } from '../a-row.ts';

const day = (n: number) => `2026-01-0${n}T00:00:00.000Z`;
const task = (taskId: string, n: number, more: object = {}) =>
  row({ taskId, head: head(2, { state: 'TASK_STATE_WORKING', statusAt: day(n), ...more }) });

const isListed = (one: TaskRow, filter: TaskFilter) => isFound(one, listSearch({ limit: 1, ...filter }));
const listed = (rows: readonly TaskRow[], query: TaskQuery) => found(rows, listSearch(query));

describe('a list', () => {
  it.each<[string, TaskFilter, boolean]>([
    ['everything', {}, true],
    ['its context', { contextId: 'c' }, true],
    ['another context', { contextId: 'd' }, false],
    ['its state', { state: 'TASK_STATE_WORKING' }, true],
    ['another state', { state: 'TASK_STATE_FAILED' }, false],
    ['its time', { statusSince: day(3) }, true],
    ['a later time', { statusSince: day(4) }, false],
    ['a label of it', { labels: ['eu'] }, true],
    ['all its labels', { labels: ['invoice', 'eu', 'eu'] }, true],
    ['no label', { labels: [] }, true],
    ['one of its labels and another one', { labels: ['eu', 'us'] }, false],
    ['a part of a label', { labels: ['e'] }, false],
    ['its context and another state', { contextId: 'c', state: 'TASK_STATE_FAILED' }, false],
  ])('of %s has the task: %3$s', (_, filter, expected) => {
    expect(isListed(task('t', 3, { labels: ['eu', 'invoice'] }), filter)).toBe(expected);
  });

  it('has logs that are no tasks only where they are asked for, and nothing without a log', () => {
    const answered = task('t', 1, { state: undefined });
    expect([isListed(answered, {}), isListed(answered, { answered: true })]).toEqual([false, true]);
    expect(isListed(row({ version: 0, head: undefined }), { answered: true })).toBe(false);
  });

  it('has no task without labels where one is asked for', () => {
    expect(isListed(task('t', 3), { labels: ['eu'] })).toBe(false);
  });

  it('finds tasks by terms: the name of the filter and the word, each once', () => {
    expect(termsOf(head(2, { labels: ['eu', 'a:b', 'eu'] }))).toEqual(['labels:eu', 'labels:a:b']);
    expect([termsOf(head(2)), termsOf(head(2, { labels: [] })), termsOf(undefined)]).toEqual([[], [], []]);
    const query = { limit: 3, contextId: 'c', labels: ['eu', 'us', 'eu'] };
    expect(listSearch(query)).toEqual({ limit: 3, contextId: 'c', terms: ['labels:eu', 'labels:us'] });
    expect(query.labels).toEqual(['eu', 'us', 'eu']);
    expect(listSearch({ limit: 3 })).toEqual({ limit: 3, terms: [] });
  });

  it('has the newest first, of equals the largest id, and goes on where a page ended', () => {
    const rows = [task('b', 1), task('a', 2), task('c', 1), task('a', 1, { contextId: 'd' })];
    const ids = (some: readonly { taskId: string }[]) => some.map(({ taskId }) => taskId).join('');
    const { all, rest } = listed(rows, { limit: 9 });
    expect([ids(all), ids(rest)]).toEqual(['acba', 'acba']);
    const after = (n: number, taskId: string) =>
      ids(listed(rows, { limit: 9, after: { statusAt: day(n), taskId } }).rest);
    expect([after(2, 'a'), after(1, 'c'), after(1, 'bb'), after(1, 'a'), after(9, 'z')]).toEqual([
      ...['cba', 'ba', 'ba', '', 'acba'],
    ]);
    expect(newestFirst(listPlace(rows[0]!), listPlace(rows[0]!))).toBe(-0);
  });

  it('has to be touched for a change of state, context, labels or time of status, and for nothing else of a task', () => {
    const before = head(2, { state: 'TASK_STATE_WORKING', statusAt: day(1) });
    const isTouched = (more: Partial<Head>) => !isListedAlike(before, { ...before, ...more });
    const touching: Partial<Head>[] = [
      { state: 'TASK_STATE_COMPLETED' },
      { state: undefined },
      { contextId: 'd' },
      { statusAt: day(2) },
      { closed: true },
      { labels: ['eu'] },
    ];
    expect(touching.map(isTouched)).toEqual([true, true, true, true, true, true]);
    expect(isTouched({ version: 9, statusVersion: 9, generation: 9, turn: 9, attempt: 9 })).toBe(false);
    expect(isTouched({ dueAt: day(9) })).toBe(false);
    const labelled = (...labels: string[]) => ({ ...before, labels });
    expect(isListedAlike(labelled('eu', 'us'), labelled('us', 'eu'))).toBe(true);
    expect(isListedAlike(labelled('eu'), labelled('eu', 'us'))).toBe(false);
    expect(isListedAlike(labelled('eu', 'us'), labelled('us'))).toBe(false);
    expect([isListedAlike(undefined, before), isListedAlike(before, undefined)]).toEqual([false, false]);
    expect(isListedAlike(undefined, undefined)).toBe(true);
  });
});
