import type { HttpRequest, OlderOperationName } from '@batonjs/bindings';
import { A2AError, type ErrorReason, invalidParams } from '@batonjs/protocol/errors';
import { isObject } from '@batonjs/protocol/json';
import type { OperationName } from '@batonjs/protocol/operations';
import { taskPushConfig } from '../translation/push-config.ts';
import { card } from '../translation/security.ts';
import { task } from '../translation/task.ts';
import { event, sendParams } from '../translation/translations.ts';
import { type Codec, compact, type Loose, list, type Way } from '../wire/codec.ts';

/** One operation of 0.3. With `isProto`, `params` are the body of a request on HTTP+JSON. */
interface V03Operation {
  /** `encode` throws `UNSUPPORTED_OPERATION` where a client of 0.3 cannot ask for the operation. */
  readonly params: Codec<object | undefined, object>;
  /** Of an operation that streams, one event. */
  readonly result: Codec<unknown, unknown>;
}

/** The most webhooks that one answer of 1.0 holds. 0.3 has no pages. */
const maxPage = 100;

/** Params that name a task or less, of requests without a body. Their metadata is lost. */
const taskParams = (
  decode: (older: Loose) => object,
  encode: (newer: Loose) => object | undefined,
): V03Operation['params'] => ({
  decode(given, { report }) {
    const older: Loose = Object(given);
    if (Object.keys(Object(older.metadata)).length > 0) report('request-metadata', 'metadata');
    return compact(decode(older));
  },
  encode: (newer: Loose, { isProto }) => {
    const older = encode(newer);
    return isProto ? {} : older && compact(older);
  },
});

const nothing = () => ({});

/** Both to get and to delete one webhook. */
const oneConfigParams = taskParams(
  ({ id, pushNotificationConfigId }) => ({ taskId: id, id: pushNotificationConfigId }),
  ({ id, taskId }) => ({ id: taskId, pushNotificationConfigId: id }),
);

const cancelParams: V03Operation['params'] = {
  decode: (given) => idAndMetadata(Object(given)),
  encode(newer: Loose, { isProto }) {
    const { id, metadata } = idAndMetadata(newer);
    return isProto ? compact({ name: `tasks/${id}`, metadata }) : compact({ id, metadata });
  },
};
const idAndMetadata = ({ id, metadata }: Loose) => compact({ id, metadata });

/** A list without pages: the loss is reported unless it is the last page. */
const listOf = (member: 'tasks' | 'configs', element: Codec<unknown, unknown>): Codec<unknown, object> => ({
  decode(given, way, path) {
    const elements = isObject(given) ? (given[member] ?? []) : given;
    if (!Array.isArray(elements)) throw new TypeError(`${member} is no list`);
    return { [member]: list(element).decode(elements, way, path) };
  },
  encode({ nextPageToken, [member]: elements }: Loose, way, path) {
    if (nextPageToken) way.report('paging', '');
    const older = list(element).encode(Array.isArray(elements) ? elements : [], way, path);
    return way.isProto && member === 'configs' ? { configs: older } : older;
  },
});

const sending: V03Operation = { params: sendParams, result: event };

/**
 * Every operation as 0.3 has it; undefined for one that 0.3 does not have. A new operation needs a row here, because the
 * compiler checks that the table is complete.
 */
const v03Operations: {
  readonly [Name in OperationName]: Name extends OlderOperationName ? V03Operation : undefined;
} = {
  SendMessage: sending,
  SendStreamingMessage: sending,
  GetTask: {
    params: taskParams(
      ({ id, historyLength }) => ({ id, historyLength }),
      ({ id, historyLength }) => ({ id, historyLength }),
    ),
    result: task,
  },
  ListTasks: {
    params: taskParams(nothing, () => {
      throw new A2AError('UNSUPPORTED_OPERATION', 'A2A 0.3 has no ListTasks');
    }),
    result: listOf('tasks', task),
  },
  CancelTask: { params: cancelParams, result: task },
  SubscribeToTask: {
    params: taskParams(
      ({ id }) => ({ id }),
      ({ id }) => ({ id }),
    ),
    result: event,
  },
  CreateTaskPushNotificationConfig: { params: taskPushConfig, result: taskPushConfig },
  GetTaskPushNotificationConfig: { params: oneConfigParams, result: taskPushConfig },
  ListTaskPushNotificationConfigs: {
    params: taskParams(
      ({ id }) => ({ taskId: id, pageSize: maxPage }),
      ({ taskId }) => ({ id: taskId }),
    ),
    result: listOf('configs', taskPushConfig),
  },
  DeleteTaskPushNotificationConfig: {
    params: oneConfigParams,
    result: { decode: nothing, encode: () => null },
  },
  GetExtendedAgentCard: {
    params: taskParams(nothing, () => undefined),
    // Cards have one form, on HTTP+JSON too: other SDKs read and write them as the text of the specification shows.
    result: card,
  },
};

/** An operation as 0.3 has it. Throws `METHOD_NOT_FOUND`, or the given reason, for one that 0.3 does not have. */
export function v03OperationOf(name: OperationName, reason: ErrorReason = 'METHOD_NOT_FOUND'): V03Operation {
  const operation: V03Operation | undefined = v03Operations[name];
  if (!operation) throw new A2AError(reason, `A2A 0.3 has no ${name}`);
  return operation;
}

/** The body of a request, without members if it is no JSON object. */
export function bodyOf({ body }: HttpRequest): Loose {
  try {
    const given = body?.json();
    return isObject(given) ? given : {};
  } catch {
    return {};
  }
}

/** The params of an operation, from 0.3. */
export const decodeParams = (name: OperationName, params: Loose, way: Way): Record<string, unknown> => ({
  ...v03OperationOf(name).params.decode(params, way, ''),
});

/**
 * The params of an operation, to 0.3. Throws `INVALID_PARAMS` for a `tenant`, `UNSUPPORTED_OPERATION` for an operation
 * that a client cannot ask for in 0.3.
 */
export function encodeParams(name: OperationName, params: Loose, way: Way): object | undefined {
  if (params.tenant) throw invalidParams([{ field: 'tenant', description: 'cannot be said in A2A 0.3' }]);
  return v03OperationOf(name, 'UNSUPPORTED_OPERATION').params.encode(params, way, '');
}

/** The result of an operation, or one event of a stream, in any spelling of 0.3. Throws `INVALID_AGENT_RESPONSE`. */
export function decodeResult(name: OperationName, result: unknown, way: Way): unknown {
  try {
    return v03OperationOf(name).result.decode(result, { ...way, isLenient: true }, '');
  } catch (cause) {
    throw new A2AError('INVALID_AGENT_RESPONSE', undefined, { cause });
  }
}

/** The result of an operation, or one event of a stream, to 0.3. */
export const encodeResult = (name: OperationName, result: unknown, way: Way): unknown =>
  v03OperationOf(name).result.encode(result, way, '');
