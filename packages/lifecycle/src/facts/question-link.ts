import type { Form } from '@batonjs/protocol/forms';

/** What a question says to those who answer it elsewhere than at the client. */
export interface Question {
  /** Its form, where the client gets the question as text alone. `isOwn`: the agent made the form, and no other one. */
  readonly form?: Form & { readonly isOwn?: true };
  readonly onlyBy?: OnlyBy;
}

/** Whose answer a question takes: that of any answer link, or of the links of these people. */
export type OnlyBy = 'link' | readonly string[];

/** Of a callback that takes no value: whose answer it takes, and to which question. */
export interface QuestionLink {
  /** Names the person in the log. */
  readonly by: string;
  /** The client's message after which the question is asked. One that comes later has answered it. */
  readonly after: string;
  /** The operator who chose the person. Absent: the agent did. */
  readonly assignedBy?: string;
}
