import { describe, expect, it } from 'vitest';
import { type SqlColumn, sqlTaskColumns, sqlWebhookColumns, taskOfSql, webhookOfSql } from '../../src/sql.ts';
import { head, row, webhook } from '../a-row.ts';

/** What a database reads of a row that was written. */
const kept = <Row>(columns: readonly SqlColumn<Row>[], written: Row) =>
  Object.fromEntries(columns.map(([name, , value]) => [name, value(written) ?? null]));

const dueAt = '2026-03-01T00:00:00.000Z';
const held = { holder: 'h', fence: 3, leaseUntil: 7, leasedAt: 5 };

describe('the columns of SQL tables', () => {
  it.each([
    ['waits in a schedule', row({ wanted: true, aheadMs: 30, webhooks: 2 })],
    ['is due', row({ head: head(2, { dueAt, state: 'TASK_STATE_WORKING' }) })],
    ['is held', row(held)],
    ['has ended', row({ head: head(2, { closed: true }) })],
    ['has no log', row({ version: 0, head: undefined, queue: undefined })],
  ])('keep all of a task that %s', (_, task) => {
    expect(taskOfSql({ ...kept(sqlTaskColumns, task), revision: task.revision })).toEqual(task);
  });

  it.each([
    ['is ready', webhook()],
    ['waits for its time', webhook({ attempts: 2, retryAt: dueAt, cursor: 1 })],
    ['was given up', webhook({ dead: 'no answer' })],
    ['is under way', webhook({ holder: 'h', fence: 3, leaseUntil: 7 })],
  ])('keep all of a webhook that %s', (_, push) => {
    expect(webhookOfSql({ ...kept(sqlWebhookColumns, push), revision: push.revision })).toEqual(push);
  });

  it('hold what their types say, and nothing only where a type allows it', () => {
    for (const [columns, written] of [
      [sqlTaskColumns, [row(held), row({ version: 0, head: undefined, queue: undefined })]],
      [sqlWebhookColumns, [webhook(), webhook({ holder: 'h', leaseUntil: 7 })]],
    ] as const)
      for (const [name, type, value] of columns as readonly SqlColumn<unknown>[])
        for (const one of written) {
          const types = { text: 'string', flag: 'boolean', number: 'number', integer: 'number' };
          const allowed = [Object.entries(types).find(([start]) => type.startsWith(start))?.[1]];
          if (type.endsWith('?')) allowed.push('undefined');
          expect(allowed, name).toContain(typeof value(one));
        }
  });

  it('read a task as one without a revision where its table has none, and a flag of a database without flags', () => {
    const found = { ...kept(sqlTaskColumns, row({ wanted: true })), wanted: 1 };
    expect(taskOfSql(found)).toMatchObject({ revision: 0, wanted: true });
    expect(taskOfSql({ ...found, wanted: 0 }).wanted).toBe(false);
    expect(webhookOfSql(kept(sqlWebhookColumns, webhook())).revision).toBe(0);
  });
});
