import type { SendMessageResponseMembers, StreamResponseMembers, Task } from '@batonjs/protocol';

/** An object with exactly one of the members. The types of the others are `undefined`, so that all can be read. */
export type OneOf<Members> = {
  [Name in keyof Members]: { [Key in Name]: Members[Key] } & {
    [Other in Exclude<keyof Members, Name>]?: undefined;
  };
}[keyof Members];

/** The reply to a message: a task or a message. Spec: §3.1.1. */
export type AgentReply = OneOf<SendMessageResponseMembers>;

/** One event of a stream: a task, a message, or an update of a task. Spec: §3.2.3. */
export type AgentEvent = OneOf<StreamResponseMembers>;

/** Whether the task is in a terminal state. It never changes again. Spec: §4.1.3. */
export const isTerminal = ({ status }: Pick<Task, 'status'>): boolean =>
  /_(COMPLETED|FAILED|CANCELED|REJECTED)$/.test(status.state);

/** Whether the task waits for an answer or an authorization. Spec: §4.1.3. */
export const isInterrupted = ({ status }: Pick<Task, 'status'>): boolean => /_REQUIRED$/.test(status.state);
