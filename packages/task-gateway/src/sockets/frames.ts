import type { Json } from '@batonjs/protocol';
import { isObject } from '@batonjs/protocol/json';
import { members, toFormInput, toSequence, toSubmission, toTaskId } from '../http/task-request.ts';
import { GatewayRefusal } from '../tasks/gateway-refusal.ts';
import type { Assignment } from '../tasks/gateway-task.ts';
import type { FormInput } from '../tasks/task-service.ts';

/** What a client may send over a WebSocket. `requestId` comes back in the reply. */
export type ClientFrame = { readonly requestId?: string } & (
  | { readonly event: 'subscribe'; readonly taskId: string; readonly after: number | undefined }
  | { readonly event: 'unsubscribe'; readonly taskId: string }
  | { readonly event: 'submit'; readonly submission: Assignment }
  | { readonly event: 'cancel'; readonly taskId: string }
  | { readonly event: 'input'; readonly taskId: string; readonly input: FormInput }
);

/** The members of each event besides `event` and `requestId`. */
const membersOf: Readonly<Record<ClientFrame['event'], readonly string[]>> = {
  subscribe: ['taskId', 'after'],
  unsubscribe: ['taskId'],
  submit: ['taskId', 'type', 'data', 'status'],
  cancel: ['taskId'],
  input: ['taskId', 'formId', 'values'],
};

/** Checks a frame. Throws a `GatewayRefusal` that names the member that is wrong. */
export function toFrame(value: unknown): ClientFrame {
  if (!isObject(value)) throw new GatewayRefusal('INVALID_REQUEST', 'A frame must be a JSON object');
  const { event, requestId, ...rest } = value as Record<string, Json>;
  if (typeof event !== 'string' || !Object.hasOwn(membersOf, event))
    throw new GatewayRefusal('INVALID_REQUEST', `\`event\` is one of ${Object.keys(membersOf).join(', ')}`);
  const name = event as ClientFrame['event'];
  const { taskId, after, ...others } = members(rest, membersOf[name]);
  const id = requestIdIn(value);
  if (requestId !== undefined && id === undefined)
    throw new GatewayRefusal('INVALID_REQUEST', '`requestId` must be a string of 1 to 256 characters');
  const request = id === undefined ? {} : { requestId: id };
  if (name === 'submit') return { ...request, event: name, submission: toSubmission(rest) };
  const task = { ...request, taskId: toTaskId(taskId) };
  if (name === 'subscribe') return { ...task, event: name, after: toSequence(after) };
  if (name === 'input') return { ...task, event: name, input: toFormInput(others) };
  return { ...task, event: name };
}

/** The `requestId` of a frame that may be wrong otherwise. */
export function requestIdIn(value: unknown): string | undefined {
  const { requestId } = Object(value) as { requestId?: unknown };
  return typeof requestId === 'string' && requestId !== '' && requestId.length <= 256 ? requestId : undefined;
}
