import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { extensionMissing, takesHandles } from './capabilities.ts';

/** A request to be told of tasks. */
export interface ListenRequest {
  readonly id: string | number;
  readonly taskIds: readonly string[];
  readonly client: ClientCapabilities;
}

/** How many tasks one subscription may name. */
const most = 100;

const ofListen = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]),
  method: z.literal('subscriptions/listen'),
  params: z.looseObject({
    _meta: z.looseObject({ [CLIENT_CAPABILITIES_META_KEY]: z.looseObject({}) }),
    notifications: z.looseObject({ taskIds: z.unknown() }),
  }),
});
const ofTaskIds = z.array(z.string().min(1)).min(1).max(most);

/**
 * Reads a message as a request to be told of tasks. Undefined if it is another one, which is left to the SDK. Throws a
 * `ProtocolError` for a client without the extension, and for task ids that are none.
 */
export function readListen(message: unknown): ListenRequest | undefined {
  const parsed = ofListen.safeParse(message);
  if (!parsed.success || parsed.data.params.notifications.taskIds === undefined) return undefined;
  const { id, params } = parsed.data;
  const client: ClientCapabilities = params._meta[CLIENT_CAPABILITIES_META_KEY];
  if (!takesHandles(client)) throw extensionMissing();
  const taskIds = ofTaskIds.safeParse(params.notifications.taskIds);
  if (taskIds.success) return { id, taskIds: taskIds.data, client };
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `notifications.taskIds is a list of 1 to ${most} ids of tasks`,
  );
}
