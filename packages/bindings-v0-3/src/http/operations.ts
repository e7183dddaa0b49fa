import type { OlderOperationName } from '@batonjs/bindings';
import type {
  AgentCard,
  SendMessageRequest,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
} from '@batonjs/protocol';
import { A2AError, type ErrorReason, invalidParams } from '@batonjs/protocol/errors';
import type { OperationName } from '@batonjs/protocol/operations';
import { downCard, upCard } from '../translation/agent-card.ts';
import { downTaskPushConfig, upTaskPushConfig } from '../translation/push-config.ts';
import { downSendParams, upSendParams } from '../translation/request.ts';
import { downEvent, downTask, upEvent, upTask } from '../translation/task.ts';
import type { ReportLoss } from '../wire/loss.ts';
import type { V03Event, V03SendParams, V03Task, V03TaskParams, V03TaskPushConfig } from '../wire/objects.ts';
import { compact, isObject } from '../wire/shape.ts';
import { protoEvent, protoSendParams, protoTask, protoTaskPushConfig } from './proto-json.ts';
import { spellEvent, spellSendParams, spellTask, spellTaskPushConfig } from './spelling.ts';

type Loose = Readonly<Record<string, unknown>>;

/** The params of an operation in both versions. `up` is from 0.3 to 1.0. */
interface ParamsTranslation {
  up(params: Loose, report: ReportLoss): Record<string, unknown>;
  /** Throws `UNSUPPORTED_OPERATION` where a client of 0.3 cannot ask for the operation. */
  down(params: Loose, report: ReportLoss): object | undefined;
  /** The body of a request on HTTP+JSON, from what `down` returns; empty by default. */
  toBody?(older: object | undefined, report: ReportLoss): object;
  /** What a lenient server accepts, in the spelling of the specification; the params themselves by default. */
  spell?(params: Loose): Loose;
}

/** The result of an operation, or one event of a stream, in both versions. */
interface ResultTranslation {
  /** Accepts every spelling that agents of 0.3 use. May throw for a result that makes no sense. */
  up(result: unknown, report: ReportLoss): unknown;
  /** `isLast`, of events: nothing follows in this stream. */
  down(result: unknown, report: ReportLoss, isLast?: boolean): unknown;
  /** The JSON of the protocol buffers, from what `down` returns; the same by default. */
  toProto?(older: unknown, report: ReportLoss): unknown;
}

/** One operation of 0.3. */
export interface V03Operation {
  readonly params: ParamsTranslation;
  readonly result: ResultTranslation;
}

/** The most webhooks that one answer of 1.0 holds. 0.3 has no pages. */
const maxPage = 100;

const sendParams: ParamsTranslation = {
  up: (params, report) => ({ ...upSendParams(params as unknown as V03SendParams, report, '') }),
  down: (params, report) => downSendParams(params as unknown as SendMessageRequest, report, ''),
  toBody: (older, report) => protoSendParams(older as V03SendParams, report),
  spell: (params) => spellSendParams(params, { isLenient: true }) as Loose,
};

const configParams: ParamsTranslation = {
  up: (params, report) => ({ ...upTaskPushConfig(params as unknown as V03TaskPushConfig, report, '') }),
  down: (params, report) => downTaskPushConfig(params as unknown as TaskPushNotificationConfig, report, ''),
  toBody: (older) => protoTaskPushConfig(older as V03TaskPushConfig),
  spell: (params) => spellTaskPushConfig(params) as Loose,
};

/** Params that name a task or less. Their metadata is lost unless `up` keeps it. */
const taskParams = (
  up: (params: V03TaskParams) => Record<string, unknown>,
  down: ParamsTranslation['down'],
): ParamsTranslation => ({
  up(params, report) {
    const given = params as unknown as V03TaskParams;
    if (given.metadata && Object.keys(given.metadata).length > 0) report('request-metadata', 'metadata');
    return up(given);
  },
  down,
});

const nothing = () => ({});

/** Both to get and to delete one webhook. */
const oneConfigParams = taskParams(
  ({ id, pushNotificationConfigId }) => compact({ taskId: id, id: pushNotificationConfigId }),
  ({ id, taskId }) => ({ id: taskId, pushNotificationConfigId: id }),
);

const eventResult: ResultTranslation = {
  up: (result, report) => upEvent(spellEvent(result) as V03Event, report, ''),
  down: (result, report, isLast) => downEvent(result as StreamResponse, report, '', isLast),
  toProto: (older, report) => protoEvent(older as V03Event, report),
};

const taskResult: ResultTranslation = {
  up: (result, report) => upTask(spellTask(result) as V03Task, report, ''),
  down: (result, report) => downTask(result as Task, report, ''),
  toProto: (older, report) => protoTask(older as V03Task, report, ''),
};

const configResult: ResultTranslation = {
  up: (result, report) => upTaskPushConfig(spellTaskPushConfig(result) as V03TaskPushConfig, report, ''),
  down: (result, report) => downTaskPushConfig(result as TaskPushNotificationConfig, report, ''),
  toProto: (older) => protoTaskPushConfig(older as V03TaskPushConfig),
};

/**
 * Every operation as 0.3 has it; undefined for one that 0.3 does not have. A new operation needs a row here, because the
 * compiler checks that the table is complete.
 */
const v03Operations: {
  readonly [Name in OperationName]: Name extends OlderOperationName ? V03Operation : undefined;
} = {
  SendMessage: { params: sendParams, result: eventResult },
  SendStreamingMessage: { params: sendParams, result: eventResult },
  GetTask: {
    params: taskParams(
      ({ id, historyLength }) => compact({ id, historyLength }),
      ({ id, historyLength }) => compact({ id, historyLength }),
    ),
    result: taskResult,
  },
  ListTasks: {
    params: taskParams(nothing, () => {
      throw new A2AError('UNSUPPORTED_OPERATION', 'A2A 0.3 has no ListTasks');
    }),
    result: {
      up: nothing,
      down: (result, report) =>
        elementsOf<Task>(result, 'tasks', report).map((task, n) => downTask(task, report, `[${n}]`)),
      toProto: (older, report) => (older as V03Task[]).map((task, n) => protoTask(task, report, `[${n}]`)),
    },
  },
  CancelTask: {
    params: {
      up: ({ id, metadata }) => compact({ id, metadata }),
      down: ({ id, metadata }) => compact({ id, metadata }),
      toBody(older) {
        const { id, metadata } = older as V03TaskParams;
        return { name: `tasks/${id}`, ...(metadata && { metadata }) };
      },
    },
    result: taskResult,
  },
  SubscribeToTask: {
    params: taskParams(
      ({ id }) => compact({ id }),
      ({ id }) => ({ id }),
    ),
    result: eventResult,
  },
  CreateTaskPushNotificationConfig: { params: configParams, result: configResult },
  GetTaskPushNotificationConfig: { params: oneConfigParams, result: configResult },
  ListTaskPushNotificationConfigs: {
    params: taskParams(
      ({ id }) => ({ taskId: id, pageSize: maxPage }),
      ({ taskId }) => ({ id: taskId }),
    ),
    result: {
      up(result, report) {
        const list = isObject(result) ? (result.configs ?? []) : result;
        const configs = (list as unknown[]).map(spellTaskPushConfig) as V03TaskPushConfig[];
        return { configs: configs.map((config, n) => upTaskPushConfig(config, report, `[${n}]`)) };
      },
      down: (result, report) =>
        elementsOf<TaskPushNotificationConfig>(result, 'configs', report).map((config, n) =>
          downTaskPushConfig(config, report, `[${n}]`),
        ),
      toProto: (older) => ({ configs: (older as V03TaskPushConfig[]).map(protoTaskPushConfig) }),
    },
  },
  DeleteTaskPushNotificationConfig: {
    params: oneConfigParams,
    result: { up: nothing, down: () => null },
  },
  GetExtendedAgentCard: {
    params: taskParams(nothing, () => undefined),
    // Cards have one form, on HTTP+JSON too: other SDKs read and write them as the text of the specification shows.
    result: {
      up: (result, report) => upCard(result as never, report, ''),
      down: (result, report) => downCard(result as AgentCard, report, ''),
    },
  },
};

/** The elements of a page. Reports a loss if it is not the last page. */
function elementsOf<Element>(
  result: unknown,
  member: 'tasks' | 'configs',
  report: ReportLoss,
): readonly Element[] {
  const page = result as { nextPageToken?: string } & Partial<Record<string, Element[]>>;
  if (page.nextPageToken) report('paging', '');
  return page[member] ?? [];
}

/** An operation as 0.3 has it. Throws `METHOD_NOT_FOUND`, or the given reason, for one that 0.3 does not have. */
export function v03OperationOf(name: OperationName, reason: ErrorReason = 'METHOD_NOT_FOUND'): V03Operation {
  const operation: V03Operation | undefined = v03Operations[name];
  if (!operation) throw new A2AError(reason, `A2A 0.3 has no ${name}`);
  return operation;
}

/** The params of an operation, from 0.3. */
export const upParams = (name: OperationName, params: Loose, report: ReportLoss): Record<string, unknown> =>
  v03OperationOf(name).params.up(params, report);

/**
 * The params of an operation, to 0.3. Throws `INVALID_PARAMS` for a `tenant`, `UNSUPPORTED_OPERATION` for an operation
 * that a client cannot ask for in 0.3.
 */
export function downParams(name: OperationName, params: Loose, report: ReportLoss): object | undefined {
  if (params.tenant) throw invalidParams([{ field: 'tenant', description: 'cannot be said in A2A 0.3' }]);
  return v03OperationOf(name, 'UNSUPPORTED_OPERATION').params.down(params, report);
}

/** The result of an operation, or one event of a stream, in any spelling of 0.3. Throws `INVALID_AGENT_RESPONSE`. */
export function upResult(name: OperationName, result: unknown, report: ReportLoss): unknown {
  try {
    return v03OperationOf(name).result.up(result, report);
  } catch (cause) {
    throw new A2AError('INVALID_AGENT_RESPONSE', undefined, { cause });
  }
}

/** The result of an operation, or one event of a stream, to 0.3. */
export const downResult = (
  name: OperationName,
  result: unknown,
  report: ReportLoss,
  isLast?: boolean,
): unknown => v03OperationOf(name).result.down(result, report, isLast);
