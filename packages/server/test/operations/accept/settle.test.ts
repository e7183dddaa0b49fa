import { FACT_FORMAT, type Fact } from '@batonjs/lifecycle';
import type { TaskState } from '@batonjs/protocol';
import { expect, it } from 'vitest';
import { settling } from '../../../src/operations/send-message.ts';

const of = (fact: object) =>
  ({ format: FACT_FORMAT, at: '2026-01-01T00:00:00.000Z', ...fact }) as unknown as Fact;
const status = (state: string) =>
  of({ type: 'status-changed', status: { state: `TASK_STATE_${state}` as TaskState } });
const started = (...messageIds: string[]) => of({ type: 'turn-started', messageIds });
const taken = (messageId: string) => of({ type: 'message-taken', messageId });
const answered = of({ type: 'answered' });

it.each<[string, Fact[], (string | undefined)[]]>([
  ['the end of its task', [status('COMPLETED')], ['closed']],
  ['another end', [status('WORKING'), status('CANCELED')], [undefined, 'closed']],
  ['an answer', [answered], ['closed']],
  [
    'a question of a turn with it',
    [started('x', 'm'), status('INPUT_REQUIRED')],
    [undefined, 'input-required'],
  ],
  ['a question after it was taken', [taken('m'), status('AUTH_REQUIRED')], [undefined, 'auth-required']],
  ['no earlier question', [status('INPUT_REQUIRED')], [undefined]],
  ['no question of a turn without it', [started('x'), status('INPUT_REQUIRED')], [undefined, undefined]],
  ['no question after another was taken', [taken('x'), status('INPUT_REQUIRED')], [undefined, undefined]],
  [
    'a question of a later turn',
    [taken('m'), started('x'), status('INPUT_REQUIRED')],
    [undefined, undefined, 'input-required'],
  ],
  [
    'a question after a turn that took it and a message that it did not',
    [started('m'), taken('x'), status('AUTH_REQUIRED')],
    [undefined, undefined, 'auth-required'],
  ],
  ['no progress', [started('m'), status('WORKING')], [undefined, undefined]],
])('a message is settled by %s', (_, facts, settled) => {
  expect(facts.map(settling('m'))).toEqual(settled);
});
