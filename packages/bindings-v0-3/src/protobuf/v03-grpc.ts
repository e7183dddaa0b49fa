import type { ProtobufMethod, ProtobufPeer, ProtobufVersion } from '@batonjs/bindings';
import type { AgentCard } from '@batonjs/protocol';
import { type ErrorReason, invalidParams } from '@batonjs/protocol/errors';
import type { OperationName } from '@batonjs/protocol/operations';
import { downParams, upParams, upResult, v03OperationOf } from '../http/operations.ts';
import { protoSendParams } from '../http/proto-json.ts';
import { spellSendParams, spellTaskPushConfig } from '../http/spelling.ts';
import { V03 } from '../translation/agent-card.ts';
import { nameOf, reasonNamed } from '../translation/error-names.ts';
import { type FileBytes, fileBytesOf, readFiles, writeFiles } from '../translation/files.ts';
import { lossReporter, type OnLoss, type ReportLoss } from '../wire/loss.ts';
import type { V03SendParams, V03TaskPushConfig } from '../wire/objects.ts';
import { compact, isObject } from '../wire/shape.ts';
import { readCard, writeCard } from './card.ts';
import { v03Enums, v03Messages } from './messages.ts';

type Loose = Readonly<Record<string, unknown>>;

/** How both sides speak A2A 0.3 over gRPC. */
export interface V03GrpcOptions {
  /**
   * What peers write for the bytes of files: the `bytes`, as the proto has them, or their base64 text (`base64`), as the
   * SDKs for Python and Go do. By default, the `user-agent` of a client tells, agents are sent the bytes, and both are read.
   */
  readonly files?: FileBytes;
  readonly onLoss?: OnLoss;
}

/**
 * A2A 0.3 over gRPC, for `listenGrpc`, `grpcService` and `grpcClient` of `@batonjs/bindings-grpc`. It has no ListTasks.
 * Spec: 0.3 §3.2.2, `a2a.proto`.
 */
export function v03Grpc({ files, onLoss }: V03GrpcOptions = {}): ProtobufVersion {
  return {
    version: V03,
    package: 'a2a.v1',
    service: 'A2AService',
    addressForm: 'url',
    messages: v03Messages,
    enums: v03Enums,
    errors: { write: ({ reason, message }) => `${nameOf(reason)}: ${message}`, read: readError },
    methods: methodsOf(lossReporter(onLoss), files),
  };
}

/** The error that the text of a status names, as SDKs in Python write it. */
function readError(text: string): { readonly reason: ErrorReason; readonly message: string } | undefined {
  const [, name, message = ''] = /^(\w+Error): (.*)$/s.exec(text) ?? [];
  const reason = reasonNamed(name);
  return reason && { reason, message };
}

function methodsOf(report: ReportLoss, files: FileBytes | undefined): readonly ProtobufMethod[] {
  const filesOf = (peer?: ProtobufPeer) => files ?? fileBytesOf(peer?.userAgent);

  /** The JSON of the protocol buffers, as HTTP+JSON has it. */
  const older = (
    operation: OperationName,
    result: unknown,
    isLast?: boolean,
    peer?: ProtobufPeer,
  ): unknown => {
    const { down, toProto } = v03OperationOf(operation).result;
    const plain = down(writeFiles(result, filesOf(peer)), report, isLast);
    return toProto ? toProto(plain, report) : plain;
  };
  const readSend = (request: Loose, peer?: ProtobufPeer) => {
    const spelt = spellSendParams(request, { isLenient: false }) as V03SendParams;
    // Protocol buffers omit a `blocking` that is false.
    if (isObject(spelt.configuration)) spelt.configuration.blocking ??= false;
    return readFiles(upParams('SendMessage', spelt as never, report), filesOf(peer));
  };
  const writeSend = (params: Loose) => {
    const plain = downParams('SendMessage', writeFiles(params, files), report) as V03SendParams;
    checkHistory(plain.configuration?.historyLength, 'configuration.historyLength');
    const { message: request, ...rest } = protoSendParams(plain, report) as Record<string, unknown>;
    return { request, ...rest };
  };
  /** Without presence, 0 means the whole history. */
  const checkHistory = (historyLength: unknown, path: string) => {
    if (historyLength === 0) report('history-none', path);
  };
  const asEvent = (operation: OperationName) => ({
    readResult: (response: Loose) => readFiles(upResult(operation, response, report), files),
    writeResult: (result: unknown, isLast?: boolean, peer?: ProtobufPeer) =>
      namedEvent(older(operation, result, isLast, peer) as Loose),
  });
  const asTask = (operation: OperationName) => ({
    readResult: (response: Loose) => readFiles(upResult(operation, response, report), files),
    writeResult: (result: unknown, _isLast?: boolean, peer?: ProtobufPeer) =>
      namedTask(older(operation, result, false, peer) as Loose),
  });
  const asConfig = (operation: OperationName) => ({
    readResult: (response: Loose) => upResult(operation, response, report),
    writeResult: (result: unknown) => older(operation, result),
  });
  /** The name of one webhook. */
  const oneConfig = {
    readParams: ({ name }: Loose) => {
      const [, taskId, id] = /^tasks\/([^/]+)\/pushNotificationConfigs\/([^/]+)$/.exec(String(name)) ?? [];
      if (!taskId) throw wrongName('name', 'tasks/{task}/pushNotificationConfigs/{config}');
      return { taskId, id };
    },
    writeParams: (params: Loose) => {
      downParams('GetTaskPushNotificationConfig', params, report);
      return { name: `tasks/${params.taskId}/pushNotificationConfigs/${params.id}` };
    },
  };
  return [
    {
      operation: 'SendMessage',
      name: 'SendMessage',
      request: 'SendMessageRequest',
      response: 'SendMessageResponse',
      readParams: readSend,
      writeParams: writeSend,
      ...asEvent('SendMessage'),
    },
    {
      operation: 'SendStreamingMessage',
      name: 'SendStreamingMessage',
      request: 'SendMessageRequest',
      response: 'StreamResponse',
      readParams: readSend,
      writeParams: writeSend,
      ...asEvent('SendStreamingMessage'),
    },
    {
      operation: 'GetTask',
      name: 'GetTask',
      request: 'GetTaskRequest',
      response: 'Task',
      readParams: ({ name, historyLength }) => compact({ id: taskIn(name), historyLength }),
      writeParams(params) {
        const { id, historyLength } = downParams('GetTask', params, report) as Loose;
        checkHistory(historyLength, 'historyLength');
        return compact({ name: `tasks/${id}`, historyLength });
      },
      ...asTask('GetTask'),
    },
    {
      operation: 'CancelTask',
      name: 'CancelTask',
      request: 'CancelTaskRequest',
      response: 'Task',
      readParams: ({ name }) => ({ id: taskIn(name) }),
      writeParams(params) {
        const { id, metadata } = downParams('CancelTask', params, report) as Loose;
        if (metadata) report('cancel-metadata', 'metadata');
        return { name: `tasks/${id}` };
      },
      ...asTask('CancelTask'),
    },
    {
      operation: 'SubscribeToTask',
      name: 'TaskSubscription',
      request: 'TaskSubscriptionRequest',
      response: 'StreamResponse',
      // It begins with the task as it is, also if that has ended.
      impliedPosition: '',
      readParams: ({ name }) => ({ id: taskIn(name) }),
      writeParams: (params) => ({
        name: `tasks/${(downParams('SubscribeToTask', params, report) as Loose).id}`,
      }),
      ...asEvent('SubscribeToTask'),
    },
    {
      operation: 'CreateTaskPushNotificationConfig',
      name: 'CreateTaskPushNotificationConfig',
      request: 'CreateTaskPushNotificationConfigRequest',
      response: 'TaskPushNotificationConfig',
      readParams({ parent, configId, config }) {
        // Some peers send the name of the list that the webhook goes into.
        const taskId = taskIn(String(parent).replace(/\/pushNotificationConfigs\/?$/, ''), 'parent');
        const spelt = spellTaskPushConfig({ ...(config as object | undefined), taskId, configId });
        return upParams('CreateTaskPushNotificationConfig', spelt as never, report);
      },
      writeParams(params) {
        const plain = downParams('CreateTaskPushNotificationConfig', params, report) as V03TaskPushConfig;
        const { id: configId = '' } = plain.pushNotificationConfig;
        const parent = `tasks/${plain.taskId}`;
        const name = `${parent}/pushNotificationConfigs/${configId}`;
        return { parent, configId, config: { name, pushNotificationConfig: plain.pushNotificationConfig } };
      },
      ...asConfig('CreateTaskPushNotificationConfig'),
    },
    {
      operation: 'GetTaskPushNotificationConfig',
      name: 'GetTaskPushNotificationConfig',
      request: 'GetTaskPushNotificationConfigRequest',
      response: 'TaskPushNotificationConfig',
      ...oneConfig,
      ...asConfig('GetTaskPushNotificationConfig'),
    },
    {
      operation: 'ListTaskPushNotificationConfigs',
      name: 'ListTaskPushNotificationConfig',
      request: 'ListTaskPushNotificationConfigRequest',
      response: 'ListTaskPushNotificationConfigResponse',
      readParams: ({ parent, ...page }) => ({ taskId: taskIn(parent, 'parent'), ...page }),
      writeParams({ pageSize, pageToken, ...params }) {
        const { id } = downParams('ListTaskPushNotificationConfigs', params, report) as Loose;
        return compact({ parent: `tasks/${id}`, pageSize, pageToken });
      },
      readResult: ({ nextPageToken, ...response }) =>
        compact({
          ...(upResult('ListTaskPushNotificationConfigs', response, report) as object),
          nextPageToken,
        }),
      writeResult(result) {
        const { nextPageToken, ...page } = result as Record<string, unknown>;
        const plain = older('ListTaskPushNotificationConfigs', page) as object;
        return compact({ ...plain, nextPageToken });
      },
    },
    {
      operation: 'DeleteTaskPushNotificationConfig',
      name: 'DeleteTaskPushNotificationConfig',
      request: 'DeleteTaskPushNotificationConfigRequest',
      response: 'Empty',
      ...oneConfig,
      readResult: () => ({}),
      writeResult: () => ({}),
    },
    {
      operation: 'GetExtendedAgentCard',
      name: 'GetAgentCard',
      request: 'GetAgentCardRequest',
      response: 'AgentCard',
      readParams: () => ({}),
      writeParams(params) {
        downParams('GetExtendedAgentCard', params, report);
        return {};
      },
      readResult: (response) => readCard(response, report),
      writeResult: (card) => writeCard(card as AgentCard, report),
    },
  ];
}

/** The id of the task that a resource name names. */
function taskIn(name: unknown, field = 'name'): string {
  const [, id] = /^tasks\/([^/]+)$/.exec(String(name)) ?? [];
  if (!id) throw wrongName(field, 'tasks/{task}');
  return id;
}

const wrongName = (field: string, form: string) => invalidParams([{ field, description: `must be ${form}` }]);

/** The message of a status, under the name that it has in the proto; its JSON name is another. */
function namedStatus(status: unknown): unknown {
  const { message: update, ...rest } = status as Record<string, unknown>;
  return compact({ ...rest, update });
}

const namedTask = (task: Loose): Loose => ({ ...task, status: namedStatus(task.status) });

function namedEvent({ task, message, statusUpdate, artifactUpdate }: Loose): Loose {
  if (task) return { task: namedTask(task as Loose) };
  if (message) return { msg: message };
  if (artifactUpdate) return { artifactUpdate };
  const update = statusUpdate as Loose;
  return { statusUpdate: { ...update, status: namedStatus(update.status) } };
}
