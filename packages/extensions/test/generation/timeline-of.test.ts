import { timelineOf } from '@batonjs/extensions/client';
import { expect, it } from 'vitest';

it('the timeline of a task has its known entries in order, and is undefined where there is none [R-P11-53] [R-P11-54]', () => {
  const status = { state: 'TASK_STATE_WORKING' } as const;
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'go' }] } as const;
  const known = [{ message, generation: '1' }, { status }] as never[];
  const unknown = [
    { toolCall: {}, generation: '2' },
    {},
    null,
    'x',
    { status: null },
    { message: 'm' },
  ] as never[];
  const task = { id: 't', status };
  expect(timelineOf(task)).toBeUndefined();
  expect(timelineOf({ ...task, timeline: [known[0]!, ...unknown, known[1]!] })).toEqual(known);
});
