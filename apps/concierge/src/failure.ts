import { ClientError } from '@batonjs/client';
import { A2AError } from '@batonjs/protocol/errors';
import type { Failure } from '@batonjs/server';
import { CardError } from './remotes.ts';

/** The failure that the user sees when a remote agent fails. It repeats no text of that agent, which is not trusted. */
export function failureOf(error: unknown, name: string): Failure {
  if (
    error instanceof CardError ||
    ClientError.is(error, 'INVALID_CARD') ||
    ClientError.is(error, 'NO_INTERFACE')
  )
    return { code: 'REMOTE_CARD_INVALID', message: `The card of the agent "${name}" cannot be used` };
  if (ClientError.is(error, 'TIMEOUT'))
    return { code: 'REMOTE_TIMEOUT', message: `The agent "${name}" does not answer`, retryable: true };
  if (ClientError.is(error, 'NETWORK') || (A2AError.is(error) && error.reason === 'UNAVAILABLE'))
    return { code: 'REMOTE_UNAVAILABLE', message: `The agent "${name}" cannot be reached`, retryable: true };
  if (A2AError.is(error) && error.reason !== 'INVALID_AGENT_RESPONSE')
    return { code: 'REMOTE_REFUSED', message: `The agent "${name}" refused: ${error.reason}` };
  return { code: 'REMOTE_MISBEHAVED', message: `The agent "${name}" answers nothing that makes sense` };
}
