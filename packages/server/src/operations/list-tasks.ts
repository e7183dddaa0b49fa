import {
  FACT_FORMAT,
  type Head,
  labelProblem,
  type TaskView,
  UnknownFactError,
  viewTask,
} from '@batonjs/lifecycle';
import { transitions } from '@batonjs/lifecycle/internals';
import type { ListTasksRequest, ListTasksResponse, Task, TaskStatus } from '@batonjs/protocol';
import { invalidParams } from '@batonjs/protocol/errors';
import { LABELS } from '@batonjs/protocol/headers';
import { type ListedTask, loadTask, StoreError, type TaskQuery } from '@batonjs/store';
import { sha256 } from '#bytes';
import { invalidPageToken, isStoreId, toToken, valuesIn } from '../base/token.ts';
import { fitTask } from '../log/fit-task.ts';
import { readTimeline } from '../log/generation/generation-at.ts';
import { timelineLengthParam } from '../log/generation/generation-param.ts';
import { loadEach } from '../turns/context/references.ts';
import type { CallContext, Dependencies } from './call/call-context.ts';
import { viewFor, withLabels } from './call/view-for.ts';

/**
 * ListTasks: newest status first. Tasks have their status; history and artifacts only on request. A page is shorter
 * than requested if the tasks do not fit into `limits.replyBytes`; a task that does not fit alone is cut. Spec: §3.1.4.
 */
export async function listTasks(
  request: ListTasksRequest,
  { scope, extensions, requestId }: CallContext,
  dependencies: Dependencies,
): Promise<ListTasksResponse> {
  const {
    tenant: _,
    contextId,
    status,
    statusTimestampAfter,
    pageSize = 50,
    pageToken,
    historyLength,
    timelineLength,
    includeArtifacts,
    labels,
    skill,
    code,
    ...others
  } = request;
  others satisfies Record<string, never>;
  checkWords({ labels, skill, code }, extensions);
  const filters = {
    ...(contextId && { contextId }),
    ...(status && { state: status }),
    ...(statusTimestampAfter && { statusSince: statusTimestampAfter }),
    ...(labels?.length && { labels }),
    ...(skill && { skill }),
    ...(code && { code }),
  };
  const digest = digestOf(JSON.stringify([scope, filters]));
  const after = pageToken ? readToken(pageToken, digest) : undefined;
  // One more than the page holds tells whether there is another page.
  const { tasks, total, isCut } = await dependencies.store.list(scope, {
    ...filters,
    limit: pageSize + 1,
    bytes: dependencies.options.limits.replyBytes,
    ...(after && { after }),
  });
  const page = tasks.slice(0, pageSize);
  const wanted = {
    ...viewFor(extensions, dependencies.options.messages, Math.min(historyLength ?? 0, mostMessages)),
    artifacts: includeArtifacts ?? false,
    timelineLength: timelineLengthParam(timelineLength, 'timelineLength', extensions, 0),
    requestId,
  };
  const viewed = await viewPage(page, wanted, scope, dependencies);
  const hasMore = isCut || viewed.length < tasks.length;
  const last = hasMore ? page[viewed.length - 1] : undefined;
  return {
    tasks: viewed.filter((task) => task !== undefined),
    nextPageToken: last ? toToken(last.head.statusAt, last.taskId, digest) : '',
    pageSize,
    totalSize: total,
  };
}

/** Throws `INVALID_PARAMS` for a filter of the extension where that is not active, and for words that no task has. */
function checkWords(
  { labels = [], skill, code }: Pick<ListTasksRequest, 'labels' | 'skill' | 'code'>,
  extensions: readonly string[],
): void {
  const given = { labels: labels.length > 0 || undefined, skill, code };
  const violations = Object.entries(given)
    .filter(([, value]) => value && !extensions.includes(LABELS))
    .map(([field]) => ({ field, description: `needs the extension ${LABELS}` }));
  const problem = labelProblem(labels);
  if (problem) violations.push({ field: 'labels', description: problem });
  if (violations.length > 0) throw invalidParams(violations);
}

/** How many times the bytes of a reply may be read for one page: a reply may show little of long logs. */
const readPerReply = 4;

/** The most messages of each task in a list: a page of 100 tasks would be read for the history of all of them. */
const mostMessages = 1_000;

/** What a list shows of its tasks. */
type Wanted = TaskView & Pick<CallContext, 'requestId'> & { readonly timelineLength: number | undefined };

/** As many tasks as fit into one reply, at least the first. Undefined for a task that was pruned meanwhile. */
async function viewPage(
  page: readonly ListedTask[],
  request: Wanted,
  scope: string,
  dependencies: Dependencies,
): Promise<(Task | undefined)[]> {
  const { replyBytes } = dependencies.options.limits;
  const viewed: (Task | undefined)[] = [];
  let left = replyBytes;
  let readable = readPerReply * replyBytes;
  for await (const { task, weight } of loadEach(page, (listed) =>
    view(listed, request, scope, dependencies),
  )) {
    const fitted = task && fitTask(task, replyBytes);
    left -= fitted?.weight ?? 0;
    readable -= weight;
    if (viewed.length > 0 && (left < 0 || readable < 0)) break;
    viewed.push(fitted?.task);
  }
  return viewed;
}

/** A task and how many bytes of its log were read to show it. */
interface View {
  readonly task: Task | undefined;
  readonly weight: number;
}

async function view(
  listed: ListedTask,
  { requestId, timelineLength, ...shown }: Wanted,
  scope: string,
  { store, logger }: Dependencies,
): Promise<View> {
  const { taskId: id, head } = listed;
  const { contextId } = head;
  const { metadata } = shown;
  try {
    const isInHead = (!metadata || metadata === withLabels) && timelineLength === undefined;
    if (shown.historyLength === 0 && !shown.artifacts && isInHead)
      return {
        task: { id, contextId, status: statusOf(listed), ...(metadata && { metadata: withLabels(head) }) },
        weight: 0,
      };
    const state = await loadTask(store, scope, id);
    // Pruned since the page was read.
    if (!state?.task) return { task: undefined, weight: 0 };
    if (timelineLength === undefined || (timelineLength === 0 && !shown.artifacts))
      return { task: viewTask(state, shown), weight: state.weight };
    // The log is read as well as the state.
    const timeline = await readTimeline(store, scope, id, state.version, timelineLength);
    return { task: viewTask(state, { ...shown, timeline }), weight: 2 * state.weight };
  } catch (error) {
    // Without the store there is no page. A single task that cannot be read does not affect the others.
    if (StoreError.is(error, 'UNAVAILABLE')) throw error;
    logger('error', 'A task cannot be read and is listed without its content', {
      requestId,
      taskId: id,
      error,
    });
    return { task: { id, contextId, status: outlineOf(head) }, weight: 0 };
  }
}

/** Throws if the fact that set the status is damaged or of a newer release. */
function statusOf({ head, fact: stored }: ListedTask): TaskStatus {
  if (!stored) throw new StoreError('UNREADABLE', `The fact at ${head.statusVersion} is damaged`);
  const { fact } = stored;
  if (!(fact.format <= FACT_FORMAT)) throw new UnknownFactError(`The status is of format ${fact.format}`);
  return fact.type === 'status-changed' ? fact.status : outlineOf(head);
}

/** The status without its message. A state that only a newer release knows becomes `TASK_STATE_UNSPECIFIED`. */
function outlineOf({ state, statusAt }: Head): TaskStatus {
  const isKnown = state !== undefined && Object.hasOwn(transitions, state);
  return { state: isKnown ? state : 'TASK_STATE_UNSPECIFIED', timestamp: statusAt };
}

/** Ties a token to its query, so that it does not page through another one. */
const digestOf = (query: string): string => sha256(query, 'base64url').slice(0, 16);

/** Throws `INVALID_PARAMS` for a token that was not made for these filters. */
function readToken(token: string, digest: string): TaskQuery['after'] {
  const [statusAt, taskId, made] = valuesIn(token);
  if (isTime(statusAt) && isStoreId(taskId) && made === digest) return { statusAt, taskId };
  throw invalidPageToken('was not made for this query');
}

/** Whether it is a time in the format of heads. Stores compare other texts differently, or fail. */
const isTime = (time: unknown): time is string =>
  typeof time === 'string' &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(time) &&
  !Number.isNaN(Date.parse(time)) &&
  new Date(time).toISOString() === time;
