import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import {
  AgentCapabilities,
  AgentCardSignature,
  AgentExtension,
  AgentInterface,
  AgentProvider,
  AgentSkill,
  AuthenticationInfo,
  Role,
  SecurityRequirement,
  SendMessageConfiguration,
  schemas,
  Task,
  TaskStatus,
} from '../../src/index.ts';

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Hello' }] };
const metadata = { a: { b: [1, null, 'c'] } };
const authentication = { scheme: 'Bearer', credentials: 'secret' };
const webhook = { tenant: 't', id: 'w', taskId: 'k', url: 'https://a.example/', token: 'x', authentication };
const configuration = {
  acceptedOutputModes: ['text/plain'],
  taskPushNotificationConfig: webhook,
  historyLength: 0,
  returnImmediately: true,
};
const task = { id: 'k', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };
const params = (name: keyof typeof schemas): z.ZodType => schemas[name].params;

// biome-ignore format: a table reads best with one row per line
const objects: readonly [what: string, schema: z.ZodType, required: readonly string[], whole: object][] = [
  ['SendMessageRequest [R-DM-20]', params('SendMessage'), ['message'], { tenant: 't', message, configuration, metadata }],
  ['SendMessageConfiguration [R-DM-21]', SendMessageConfiguration, [], configuration],
  ['GetTaskRequest [R-DM-22]', params('GetTask'), ['id'], { tenant: 't', id: 'k', historyLength: 3 }],
  ['ListTasksRequest [R-DM-23]', params('ListTasks'), [], { tenant: 't', contextId: 'c', status: 'TASK_STATE_FAILED', pageSize: 7, pageToken: 'p', historyLength: 1, statusTimestampAfter: '2026-01-01T00:00:00.000Z', includeArtifacts: true }],
  ['ListTasksResponse [R-DM-24]', schemas.ListTasks.result, ['tasks', 'nextPageToken', 'pageSize', 'totalSize'], { tasks: [task], nextPageToken: 'p', pageSize: 50, totalSize: 1 }],
  ['CancelTaskRequest [R-DM-25]', params('CancelTask'), ['id'], { tenant: 't', id: 'k', metadata }],
  ['SubscribeToTaskRequest [R-DM-26]', params('SubscribeToTask'), ['id'], { tenant: 't', id: 'k' }],
  ['TaskPushNotificationConfig [R-DM-27]', schemas.CreateTaskPushNotificationConfig.result, ['url'], webhook],
  ['AuthenticationInfo [R-DM-28]', AuthenticationInfo, ['scheme'], authentication],
  ['GetTaskPushNotificationConfigRequest [R-DM-29]', params('GetTaskPushNotificationConfig'), ['taskId', 'id'], { tenant: 't', taskId: 'k', id: 'w' }],
  ['DeleteTaskPushNotificationConfigRequest [R-DM-29]', params('DeleteTaskPushNotificationConfig'), ['taskId', 'id'], { tenant: 't', taskId: 'k', id: 'w' }],
  ['ListTaskPushNotificationConfigsRequest [R-DM-30]', params('ListTaskPushNotificationConfigs'), ['taskId'], { tenant: 't', taskId: 'k', pageSize: 7, pageToken: 'p' }],
  ['ListTaskPushNotificationConfigsResponse [R-DM-30]', schemas.ListTaskPushNotificationConfigs.result, [], { configs: [webhook], nextPageToken: 'p' }],
  ['GetExtendedAgentCardRequest [R-DM-31]', params('GetExtendedAgentCard'), [], { tenant: 't' }],
  ['Task [R-DM-01]', Task, ['id', 'status'], { ...task, artifacts: [{ artifactId: 'a', parts: [{ text: 'x' }] }], history: [message], metadata }],
  ['TaskStatus [R-DM-02]', TaskStatus, ['state'], { state: 'TASK_STATE_WORKING', message: { ...message, role: 'ROLE_AGENT' }, timestamp: '2026-01-01T00:00:00.000Z' }],
  ['AgentInterface [R-DM-41]', AgentInterface, ['url', 'protocolBinding', 'protocolVersion'], { url: 'https://a.example', protocolBinding: 'JSONRPC', tenant: 't', protocolVersion: '1.0' }],
  ['AgentProvider [R-DM-42]', AgentProvider, ['url', 'organization'], { url: 'https://a.example', organization: 'A' }],
  ['AgentCapabilities [R-DM-43]', AgentCapabilities, [], { streaming: false, pushNotifications: true, extensions: [{ uri: 'https://a.example/e' }], extendedAgentCard: false }],
  ['AgentExtension [R-DM-44]', AgentExtension, ['uri'], { uri: 'https://a.example/e', description: 'E', required: true, params: metadata }],
  ['AgentSkill [R-DM-45]', AgentSkill, ['id', 'name', 'description', 'tags'], { id: 's', name: 'S', description: '', tags: [], examples: ['e'], inputModes: ['text/plain'], outputModes: ['image/png'], securityRequirements: [{ schemes: { a: { list: [] } } }] }],
  ['AgentCardSignature [R-DM-46]', AgentCardSignature, ['protected', 'signature'], { protected: 'e30', signature: 'eA', header: { kid: 'k' } }],
  ['SecurityRequirement [R-DM-47]', SecurityRequirement, [], { schemes: { oauth: { list: ['read'] }, key: { list: [] } } }],
];

describe.each(objects)('%s', (_name, schema, required, whole) => {
  it('keeps every member that there is, and no other [R-JSON-05]', () => {
    expect(schema.parse({ ...whole, somethingElse: 1 })).toEqual(whole);
  });

  it('needs its required members, all of them and nothing else [R-JSON-06]', () => {
    const bare = Object.fromEntries(Object.entries(whole).filter(([name]) => required.includes(name)));
    expect(schema.parse(bare)).toEqual(bare);
    for (const name of required) {
      const { error } = schema.safeParse({ ...whole, [name]: undefined });
      expect(error?.issues[0]?.path[0], name).toBe(name);
    }
  });

  it('has members that are objects, not lists or text [R-JSON-16]', () => {
    for (const [name, value] of Object.entries(whole)) {
      if (typeof value !== 'object' || Array.isArray(value)) continue;
      for (const wrong of [[], 'text', 7])
        expect(schema.safeParse({ ...whole, [name]: wrong }).success).toBe(false);
    }
  });
});

describe('arrays that are required', () => {
  it('have an element where that matters, and may be a page of nothing [R-JSON-07]', () => {
    const paths = (schema: z.ZodType, value: object) =>
      schema.safeParse(value).error?.issues.map(({ path }) => path.join('.')) ?? [];
    expect(paths(schemas.SendMessage.params, { message: { ...message, parts: [] } })).toEqual([
      'message.parts',
    ]);
    expect(paths(Task, { ...task, artifacts: [{ artifactId: 'a', parts: [] }] })).toEqual([
      'artifacts.0.parts',
    ]);
    const card = {
      name: 'A',
      description: '',
      version: '1',
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    };
    expect(paths(schemas.GetExtendedAgentCard.result, { ...card, supportedInterfaces: [] })).toEqual([
      'supportedInterfaces',
    ]);
    expect(
      paths(schemas.ListTasks.result, { tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 }),
    ).toEqual([]);
  });
});

describe('roles', () => {
  it('are two, and the unspecified one is no role of a message [R-DM-05]', () => {
    expect([0, 1, 2].map((number) => Role.parse(number))).toEqual([
      'ROLE_UNSPECIFIED',
      'ROLE_USER',
      'ROLE_AGENT',
    ]);
    expect(Role.safeParse('ROLE_SYSTEM').success).toBe(false);
    const { success } = schemas.SendMessage.params.safeParse({
      message: { ...message, role: 'ROLE_UNSPECIFIED' },
    });
    expect(success).toBe(false);
  });
});

describe('the empty result', () => {
  it('is {} [R-JSON-19]', () => {
    expect(schemas.DeleteTaskPushNotificationConfig.result.parse({ gone: true })).toEqual({});
  });
});
