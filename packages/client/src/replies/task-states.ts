import type { Task } from '@batonjs/protocol';

/** Whether the task is in a terminal state. It never changes again. Spec: §4.1.3. */
export const isTerminal = ({ status }: Pick<Task, 'status'>): boolean =>
  /_(COMPLETED|FAILED|CANCELED|REJECTED)$/.test(status.state);

/** Whether the task waits for an answer or an authorization. Spec: §4.1.3. */
export const isInterrupted = ({ status }: Pick<Task, 'status'>): boolean => /_REQUIRED$/.test(status.state);
