import type { ProtobufMethod, ProtobufPeer, ProtobufVersion } from '@batonjs/bindings';
import type { AgentCard } from '@batonjs/protocol';
import { A2AError, type ErrorReason, invalidParams } from '@batonjs/protocol/errors';
import { isObject } from '@batonjs/protocol/json';
import { isOperationName, type OperationName } from '@batonjs/protocol/operations';
import { decodeParams, decodeResult, encodeParams, encodeResult } from '../http/operations.ts';
import { nameOf, reasonNamed } from '../translation/error.ts';
import { fileBytesOf } from '../translation/part.ts';
import { configName } from '../translation/push-config.ts';
import { card, encodeSchemes, V03 } from '../translation/security.ts';
import { compact, type FileBytes, type Loose, type Way } from '../wire/codec.ts';
import { lossReporter, type OnLoss, type ReportLoss } from '../wire/loss.ts';
import { v03Enums, v03Messages } from './messages.ts';

/** How both sides speak A2A 0.3 over gRPC. */
export interface V03GrpcOptions {
  /**
   * What peers write for the bytes of files: the `bytes`, as the proto has them, or their base64 text (`base64`), as the
   * SDKs for Python and Go do. By default, the `user-agent` of a client tells, agents are sent the bytes, and both are read.
   */
  readonly files?: FileBytes | undefined;
  readonly onLoss?: OnLoss | undefined;
}

/**
 * A2A 0.3 over gRPC, for `listenGrpc`, `grpcService` and `grpcClient` of `@batonjs/bindings-grpc`. It has no ListTasks.
 * Spec: 0.3 §3.2.2, `a2a.proto`.
 */
export const v03Grpc = ({ files, onLoss }: V03GrpcOptions = {}): ProtobufVersion => ({
  version: V03,
  package: 'a2a.v1',
  service: 'A2AService',
  messages: v03Messages,
  enums: v03Enums,
  errors: { write: ({ reason, message }) => `${nameOf(reason)}: ${message}`, read: readError },
  methods: methodsOf(lossReporter(onLoss), files),
});

/** The error that the text of a status names, as SDKs in Python write it. */
function readError(text: string): { readonly reason: ErrorReason; readonly message: string } | undefined {
  const [, name, message = ''] = /^(\w+Error): (.*)$/s.exec(text) ?? [];
  const reason = reasonNamed(name);
  return reason && { reason, message };
}

/** What a method reads and writes, where that does not follow from the operation. */
interface Method extends Omit<ProtobufMethod, keyof Derived | 'operation' | 'request'>, Partial<Derived> {
  /** The result of 0.3 under the names of the proto. */
  readonly named?: (result: Loose) => Loose;
}
type Derived = Pick<ProtobufMethod, 'name' | 'readResult' | 'writeResult'>;

/** What several methods read and write alike. */
function codecsOf(report: ReportLoss, files: FileBytes | undefined) {
  const own: Way = { report, isProto: true, files };
  const wayTo = (peer?: ProtobufPeer): Way => ({
    ...own,
    isLenient: true,
    files: files ?? fileBytesOf(peer?.userAgent) ?? 'guess',
  });
  /** The params of a request that has a name for them. */
  const namesOf = (operation: OperationName, params: Loose): Loose =>
    Object(encodeParams(operation, params, { report }));
  /** Without presence, 0 means the whole history. */
  const checkHistory = (historyLength: unknown, path: string) => {
    if (historyLength === 0) report('history-none', path);
  };
  const readResult = (operation: OperationName) => (response: Loose) =>
    decodeResult(operation, response, { report, files: files ?? 'guess' });
  const sending: Omit<Method, 'response'> = {
    readParams: (request, peer) => decodeParams('SendMessage', request, wayTo(peer)),
    writeParams(params) {
      const { message, ...rest }: Loose = Object(encodeParams('SendMessage', params, own));
      checkHistory(Object(rest.configuration).historyLength, 'configuration.historyLength');
      return { request: message, ...rest };
    },
    named: namedEvent,
  };
  /** The name of one webhook. */
  const oneConfig = {
    readParams: ({ name }: Loose) => {
      const [, taskId, id] = /^tasks\/([^/]+)\/pushNotificationConfigs\/([^/]+)$/.exec(String(name)) ?? [];
      if (!taskId) throw wrongName('name', 'tasks/{task}/pushNotificationConfigs/{config}');
      return { taskId, id };
    },
    writeParams: (params: Loose) => {
      const { id, pushNotificationConfigId } = namesOf('GetTaskPushNotificationConfig', params);
      return { name: configName(id, pushNotificationConfigId) };
    },
  };

  return { own, wayTo, namesOf, checkHistory, readResult, sending, oneConfig };
}

function methodsOf(report: ReportLoss, files: FileBytes | undefined): readonly ProtobufMethod[] {
  const { own, wayTo, namesOf, checkHistory, readResult, sending, oneConfig } = codecsOf(report, files);
  const methods: Partial<Record<OperationName, Method>> = {
    SendMessage: { response: 'SendMessageResponse', ...sending },
    SendStreamingMessage: { response: 'StreamResponse', ...sending },
    GetTask: {
      response: 'Task',
      readParams: ({ name, historyLength }) => compact({ id: taskIn(name), historyLength }),
      writeParams(params) {
        const { id, historyLength } = namesOf('GetTask', params);
        checkHistory(historyLength, 'historyLength');
        return compact({ name: `tasks/${id}`, historyLength });
      },
      named: namedTask,
    },
    CancelTask: {
      response: 'Task',
      readParams: ({ name }) => ({ id: taskIn(name) }),
      writeParams(params) {
        const { id, metadata } = namesOf('CancelTask', params);
        if (metadata) report('cancel-metadata', 'metadata');
        return { name: `tasks/${id}` };
      },
      named: namedTask,
    },
    SubscribeToTask: {
      name: 'TaskSubscription',
      response: 'StreamResponse',
      // It begins with the task as it is, also if that has ended.
      impliedPosition: '',
      readParams: ({ name }) => ({ id: taskIn(name) }),
      writeParams: (params) => ({ name: `tasks/${namesOf('SubscribeToTask', params).id}` }),
      named: namedEvent,
    },
    CreateTaskPushNotificationConfig: {
      response: 'TaskPushNotificationConfig',
      readParams({ parent, configId, config }) {
        // Some peers send the name of the list that the webhook goes into.
        const taskId = taskIn(String(parent).replace(/\/pushNotificationConfigs\/?$/, ''), 'parent');
        const named = { ...Object(config), taskId, configId };
        return decodeParams('CreateTaskPushNotificationConfig', named, wayTo());
      },
      writeParams(params) {
        const config = Object(encodeParams('CreateTaskPushNotificationConfig', params, own));
        return {
          parent: `tasks/${params.taskId ?? ''}`,
          configId: config.pushNotificationConfig.id ?? '',
          config,
        };
      },
    },
    GetTaskPushNotificationConfig: { response: 'TaskPushNotificationConfig', ...oneConfig },
    ListTaskPushNotificationConfigs: {
      name: 'ListTaskPushNotificationConfig',
      response: 'ListTaskPushNotificationConfigResponse',
      readParams: ({ parent, ...page }) => ({ taskId: taskIn(parent, 'parent'), ...page }),
      writeParams({ pageSize, pageToken, ...params }) {
        const { id } = namesOf('ListTaskPushNotificationConfigs', params);
        return compact({ parent: `tasks/${id}`, pageSize, pageToken });
      },
      // Here, it has pages.
      readResult: ({ nextPageToken, ...response }) =>
        compact({ ...Object(readResult('ListTaskPushNotificationConfigs')(response)), nextPageToken }),
      writeResult(result) {
        const { nextPageToken, ...page }: Loose = Object(result);
        return compact({
          ...Object(encodeResult('ListTaskPushNotificationConfigs', page, own)),
          nextPageToken,
        });
      },
    },
    DeleteTaskPushNotificationConfig: {
      response: 'Empty',
      ...oneConfig,
      readResult: () => ({}),
      writeResult: () => ({}),
    },
    GetExtendedAgentCard: {
      name: 'GetAgentCard',
      response: 'AgentCard',
      readParams: () => ({}),
      writeParams: (params) => namesOf('GetExtendedAgentCard', params),
      readResult: (response) => readCard(response, report),
      writeResult: (card) => writeCard(Object(card), report),
    },
  };
  return Object.entries(methods).flatMap(([operation, { named = (one: Loose) => one, ...method }]) => {
    if (!isOperationName(operation)) return [];
    const { name = operation } = method;
    const writeResult: ProtobufMethod['writeResult'] = (result, isLast, peer) =>
      named(Object(encodeResult(operation, result, { ...wayTo(peer), isLast })));
    const request = requestOf(name);
    return [{ operation, request, readResult: readResult(operation), writeResult, ...method, name }];
  });
}

const requestOf = (method: string) =>
  method === 'SendStreamingMessage' ? 'SendMessageRequest' : `${method}Request`;

/** The id of the task that a resource name names. */
function taskIn(name: unknown, field = 'name'): string {
  const [, id] = /^tasks\/([^/]+)$/.exec(String(name)) ?? [];
  if (!id) throw wrongName(field, 'tasks/{task}');
  return id;
}

const wrongName = (field: string, form: string) => invalidParams([{ field, description: `must be ${form}` }]);

/** The message of a status, under the name that it has in the proto; its JSON name is another. */
function namedStatus(status: unknown): unknown {
  const { message: update, ...rest }: Loose = Object(status);
  return compact({ ...rest, update });
}

const namedTask = (task: Loose): Loose => ({ ...task, status: namedStatus(task.status) });

function namedEvent({ task, message, statusUpdate, artifactUpdate }: Loose): Loose {
  if (isObject(task)) return { task: namedTask(task) };
  if (message) return { msg: message };
  if (artifactUpdate) return { artifactUpdate };
  return { statusUpdate: namedTask(Object(statusUpdate)) };
}

// In protocol buffers, the security of a card of 0.3 has the members of 1.0, under another name.

/** The card of 0.3. */
function writeCard(newer: AgentCard, report: ReportLoss): unknown {
  const { securitySchemes, securityRequirements, skills, ...rest } = newer;
  const older = card.encode({ ...rest, skills: [] }, { report }, '');
  // Reports what flows lose. The fields that they do not have in 0.3 are not written.
  if (securitySchemes) encodeSchemes(securitySchemes, report, 'securitySchemes');
  return compact({
    ...older,
    securitySchemes,
    security: securityRequirements,
    skills: skills.map(({ securityRequirements: security, ...skill }) => compact({ ...skill, security })),
  });
}

/** The card of 1.0. Throws `INVALID_AGENT_RESPONSE`. */
function readCard(response: Loose, report: ReportLoss): AgentCard {
  const { securitySchemes, security, skills = [], ...rest }: Members = Object(response);
  try {
    return compact({
      ...card.decode({ ...rest, skills: [] }, { report }, ''),
      securitySchemes,
      securityRequirements: security,
      skills: skills.map(({ security: securityRequirements, ...skill }) =>
        compact({ ...skill, securityRequirements }),
      ),
    });
  } catch (cause) {
    throw new A2AError('INVALID_AGENT_RESPONSE', undefined, { cause });
  }
}

type Requirements = AgentCard['securityRequirements'];

/** The members that differ from those of JSON. */
interface Members extends Pick<AgentCard, 'securitySchemes'> {
  readonly security?: Requirements;
  readonly skills?: readonly (AgentCard['skills'][number] & { readonly security?: Requirements })[];
}
