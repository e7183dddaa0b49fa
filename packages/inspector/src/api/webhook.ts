/** A webhook of a task. Its secrets are left out. */
export interface WebhookRow {
  readonly id: string;
  readonly taskId: string;
  /** Without query, which may hold a secret. */
  readonly url: string;
  readonly authentication: string;
  /** Known from a store only: position up to which the log was delivered, and the length of the log. */
  readonly cursor?: number;
  readonly version?: number;
  readonly attempts?: number;
  readonly retryAt?: string;
  /** Why it was given up. */
  readonly dead?: string;
  /** Which of the agent's scopes, for `redeliver`; -1 for another one. */
  readonly scope?: number;
}
