import { createHash } from 'node:crypto';
import { viewTask } from '@batonjs/lifecycle';
import type { ListTasksRequest, ListTasksResponse, Task } from '@batonjs/protocol';
import { invalidParams } from '@batonjs/protocol/errors';
import { type ListedTask, loadTask, type TaskQuery } from '@batonjs/store';
import type { CallContext } from './call-context.ts';
import type { ServiceSettings } from './service-settings.ts';

/** ListTasks: newest status first. A task says its status; history and artifacts only where asked for. Spec: §3.1.4. */
export async function listTasks(
  request: ListTasksRequest,
  { scope }: CallContext,
  settings: ServiceSettings,
): Promise<ListTasksResponse> {
  const { contextId, status, statusTimestampAfter, pageSize = 50, pageToken } = request;
  const filters = {
    ...(contextId && { contextId }),
    ...(status && { state: status }),
    ...(statusTimestampAfter && { statusSince: statusTimestampAfter }),
  };
  const digest = digestOf(JSON.stringify([scope, filters]));
  const after = pageToken ? readToken(pageToken, digest) : undefined;
  // One more than the page holds tells whether there is another page.
  const { tasks, total } = await settings.store.list(scope, {
    ...filters,
    limit: pageSize + 1,
    ...(after && { after }),
  });
  const page = tasks.slice(0, pageSize);
  const last = tasks.length > pageSize ? page.at(-1) : undefined;
  const viewed = await Promise.all(page.map((listed) => view(listed, request, scope, settings)));
  return {
    tasks: viewed.filter((task) => task !== undefined),
    nextPageToken: last ? toToken(last, digest) : '',
    pageSize,
    totalSize: total,
  };
}

async function view(
  { taskId, head, fact }: ListedTask,
  { historyLength = 0, includeArtifacts = false }: ListTasksRequest,
  scope: string,
  { store, currentStatusInHistory }: ServiceSettings,
): Promise<Task | undefined> {
  if (historyLength === 0 && !includeArtifacts) {
    const status =
      fact.fact.type === 'status-changed'
        ? fact.fact.status
        : { state: head.state ?? 'TASK_STATE_UNSPECIFIED', timestamp: head.statusAt };
    return { id: taskId, contextId: head.contextId, status };
  }
  const state = await loadTask(store, scope, taskId);
  // Pruned since the page was read.
  if (!state?.task) return undefined;
  return viewTask(state, { historyLength, artifacts: includeArtifacts, currentStatusInHistory });
}

/** Ties a token to its query, so that it does not page through another one. */
const digestOf = (query: string): string =>
  createHash('sha256').update(query).digest('base64url').slice(0, 16);

const toToken = ({ taskId, head }: ListedTask, digest: string): string =>
  Buffer.from(JSON.stringify([head.statusAt, taskId, digest])).toString('base64url');

/** Throws `INVALID_PARAMS` for a token that was not given out for these filters. */
function readToken(token: string, digest: string): TaskQuery['after'] {
  try {
    const [statusAt, taskId, made] = JSON.parse(Buffer.from(token, 'base64url').toString()) as unknown[];
    if (typeof statusAt === 'string' && typeof taskId === 'string' && made === digest)
      return { statusAt, taskId };
  } catch {
    // Said below.
  }
  throw invalidParams([{ field: 'pageToken', description: 'was not given out for this query' }]);
}
