/** Of a callback that takes no value: whose answer it takes, and to which question. */
export interface QuestionLink {
  /** Names the person in the log. */
  readonly by: string;
  /** The client's message after which the question is asked. One that comes later has answered it. */
  readonly after: string;
  /** The operator who chose the person. Absent: the agent did. */
  readonly assignedBy?: string;
}
