import { A2AError, ClientError } from '@batonjs/client';
import { CallError } from '@batonjs/nested-tasks';
import type { Failure } from '@batonjs/server';
import { CardError } from './remotes.ts';

/** The failure that the user sees when a remote agent fails. It repeats no text of that agent, which is not trusted. */
export function failureOf(error: unknown, name: string): Failure {
  const agent = `the agent "${name}"`;
  const cause = rootOf(error);
  if (
    cause instanceof CardError ||
    ClientError.is(cause, 'INVALID_CARD') ||
    ClientError.is(cause, 'NO_INTERFACE')
  )
    return { code: 'REMOTE_CARD_INVALID', message: `The card of ${agent} cannot be used` };
  if (ClientError.is(cause, 'TIMEOUT'))
    return { code: 'REMOTE_TIMEOUT', message: `${upper(agent)} does not answer`, retryable: true };
  if (CallError.is(error, 'UNREACHABLE'))
    return { code: 'REMOTE_UNAVAILABLE', message: `${upper(agent)} cannot be reached`, retryable: true };
  if (CallError.is(error, 'TASK_LOST') || CallError.is(error, 'OUTCOME_UNKNOWN'))
    return { code: 'REMOTE_LOST', message: `How far ${agent} came is not known` };
  if (CallError.is(error, 'REFUSED') && A2AError.is(cause))
    return { code: 'REMOTE_REFUSED', message: `${upper(agent)} refused: ${cause.reason}` };
  return { code: 'REMOTE_MISBEHAVED', message: `${upper(agent)} answers nothing that makes sense` };
}

const upper = (text: string): string => `T${text.slice(1)}`;

/** The error of the client behind the error of a call. */
function rootOf(error: unknown): unknown {
  let root = error;
  while (root instanceof Error && !ClientError.is(root) && !A2AError.is(root) && root.cause)
    root = root.cause;
  return root;
}
