/** A tool call that waits for the user. */
export interface PendingCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  /**
   * For what it waits: whether it may run; what it gives, where the tool has no `execute`; or the answer to a question of
   * the agent that it called.
   */
  readonly needs: 'approval' | 'output' | 'answer';
  /** Of an approval. */
  readonly approvalId?: string;
  /** Of an answer: the name of the call to the other agent. */
  readonly call?: string;
  /** Why it needs an approval, if the agent says so. */
  readonly reason?: string;
}
