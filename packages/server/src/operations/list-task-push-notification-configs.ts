import type {
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
} from '@batonjs/protocol';
import { fromBase64Url, toBase64Url } from '#bytes';
import type { CallContext } from './call/call-context.ts';
import type { Dependencies } from './call/dependencies.ts';
import { invalidPageToken, isStoreId } from './call/page-token.ts';
import { lengthOf, redacted, webhooksOf } from './call/task-webhooks.ts';

const maxPage = 100;

/** ListTaskPushNotificationConfigs, ordered by id; at most 100 in a page, 50 by default. Spec: §3.1.9. */
export async function listTaskPushNotificationConfigs(
  { taskId, pageSize, pageToken }: ListTaskPushNotificationConfigsRequest,
  { scope }: CallContext,
  dependencies: Dependencies,
): Promise<ListTaskPushNotificationConfigsResponse> {
  const push = webhooksOf(dependencies);
  const size = Math.min(pageSize || 50, maxPage);
  const after = pageToken ? readToken(pageToken, taskId) : undefined;
  const found = await push.store.listPushConfigs(scope, taskId, { limit: size + 1, ...(after && { after }) });
  if (found.length === 0) await lengthOf(taskId, scope, dependencies);
  const page = found.slice(0, size);
  const last = found.length > size ? page.at(-1) : undefined;
  return {
    configs: page.map((config) => redacted(config, push)),
    ...(last && { nextPageToken: toToken(taskId, last.id) }),
  };
}

const toToken = (taskId: string, id: string): string => toBase64Url(JSON.stringify([taskId, id]));

function readToken(token: string, taskId: string): string {
  try {
    const [made, id] = JSON.parse(fromBase64Url(token)) as unknown[];
    if (made === taskId && isStoreId(id)) return id;
  } catch {
    // Thrown below: a token that is no JSON is as wrong as one of another task.
  }
  throw invalidPageToken('was not made for this task');
}
