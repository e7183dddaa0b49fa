import type { Task } from '@batonjs/protocol';
import { type Form, formIn } from '@batonjs/protocol/forms';

/** The form that a task waits for; undefined without one. Show it, then send `answer(task, values)` of the client. */
export const formOf = ({ status }: Task): Form | undefined =>
  status.state === 'TASK_STATE_INPUT_REQUIRED' ? formIn(status.message) : undefined;
