import type { Json } from '@batonjs/protocol';

/** The statuses of a task: `created` waits for an agent, `in_progress` has one, the others are final. */
export const statuses = ['created', 'in_progress', 'completed', 'failed', 'canceled'] as const;

/** The status of a task. */
export type GatewayStatus = (typeof statuses)[number];

/** Why a task failed. */
export interface GatewayError {
  /** UPPER_SNAKE_CASE: the agent's own code, or one of the gateway's, such as `INVALID_INPUT` or `TIMEOUT`. */
  readonly code: string;
  readonly message: string;
}

/** A question that a task waits with. Answer it with `POST /task/{taskId}/input`. */
export interface GatewayForm {
  readonly formId: string;
  readonly title?: string;
  /** The JSON Schema of the `values` of an answer. */
  readonly schema: Readonly<Record<string, Json | undefined>>;
  /** Values that are known already. */
  readonly initial?: Json;
  /** The errors of the previous answer by field; the empty name stands for the whole answer. */
  readonly errors?: Readonly<Record<string, string>>;
}

/** How a task stands. */
export interface TaskProgressReport {
  readonly status: GatewayStatus;
  /** Percent, 0 to 100; only `in_progress`, if the agent reports progress. */
  readonly progress?: number;
  /** What the agent made: of each task that is `completed`, and of others where it made something before. */
  readonly result?: Json;
  /** What the agent said with its result, its question or its end. Of a task that `failed`, `error` says why. */
  readonly message?: string;
  /** Only of a task that `failed`. */
  readonly error?: GatewayError;
  /** Only of a task that is `in_progress` and waits for an answer. */
  readonly form?: GatewayForm;
  /** Grows with every update of the task. Numbers may be left out between two updates. */
  readonly sequence: number;
}

/** A task as `GET /task/{taskId}` shows it. */
export interface GatewayTask extends TaskProgressReport {
  readonly taskId: string;
  readonly type: string;
  readonly data: Readonly<Record<string, Json>>;
}

/** One transition of a task, as `GET /task/{taskId}/history` lists it. */
export interface GatewayTransition extends TaskProgressReport {
  /** ISO 8601, UTC, milliseconds. */
  readonly time: string;
  /** What the agent said with it. */
  readonly message?: string;
}

/** An update of a task, as the WebSocket `/task/updates` sends it. */
export interface TaskUpdate extends TaskProgressReport {
  readonly event: 'task_update';
  readonly taskId: string;
}
