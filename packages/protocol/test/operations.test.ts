import { readFileSync } from 'node:fs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { ListTasksResponse, StreamResponse, Task } from '../src/model/tasks.ts';
import {
  isOperationName,
  methodName,
  type OperationName,
  operationNames,
  operations,
  type Params,
  type Reply,
} from '../src/operations.ts';
import { schemas } from '../src/schemas.ts';

const configs = '/tasks/{taskId}/pushNotificationConfigs';

// The specification's method mapping (§5.3), written down once more.
const mapping: [OperationName, kind: string, http: string[]][] = [
  ['SendMessage', 'unary', ['POST /message:send']],
  ['SendStreamingMessage', 'stream', ['POST /message:stream']],
  ['GetTask', 'unary', ['GET /tasks/{id}']],
  ['ListTasks', 'unary', ['GET /tasks']],
  ['CancelTask', 'unary', ['POST /tasks/{id}:cancel']],
  ['SubscribeToTask', 'stream', ['POST /tasks/{id}:subscribe', 'GET /tasks/{id}:subscribe']],
  ['CreateTaskPushNotificationConfig', 'unary', [`POST ${configs}`]],
  ['GetTaskPushNotificationConfig', 'unary', [`GET ${configs}/{id}`]],
  ['ListTaskPushNotificationConfigs', 'unary', [`GET ${configs}`]],
  ['DeleteTaskPushNotificationConfig', 'unary', [`DELETE ${configs}/{id}`]],
  ['GetExtendedAgentCard', 'unary', ['GET /extendedAgentCard']],
];

/** Required members that the query or path of a request can hold, with a value each as text. */
const samples: Record<string, string | readonly string[]> = {
  id: 'x',
  taskId: 't',
  contextId: 'c',
  status: 'TASK_STATE_WORKING',
  pageSize: '7',
  pageToken: 'p',
  historyLength: '3',
  statusTimestampAfter: '2026-01-01T00:00:00.000Z',
  labels: ['eu', 'invoice:42'],
  skill: 'pay',
  code: 'PROCESS_LOST',
};

describe('the operation table', () => {
  it('has the eleven operations in the order of the specification', () => {
    expect(operationNames).toEqual(mapping.map(([name]) => name));
  });

  it.each(mapping)('maps %s as the specification does [R-REST-02, R-REST-03]', (name, kind, http) => {
    expect(operations[name]).toMatchObject({ kind, http });
  });

  it('gates the operations that the card must declare [R-OP-06]', () => {
    const gated = operationNames.flatMap((name) => {
      const row = operations[name];
      return 'capability' in row ? [`${name}: ${row.capability}`] : [];
    });
    expect(gated).toEqual([
      'SendStreamingMessage: streaming',
      'SubscribeToTask: streaming',
      'CreateTaskPushNotificationConfig: pushNotifications',
      'GetTaskPushNotificationConfig: pushNotifications',
      'ListTaskPushNotificationConfigs: pushNotifications',
      'DeleteTaskPushNotificationConfig: pushNotifications',
      'GetExtendedAgentCard: extendedAgentCard',
    ]);
  });

  it('says which requests a client may repeat', () => {
    const by = Map.groupBy(operationNames, (name) => operations[name].repeatable);
    expect(by.get('with-idempotency')).toEqual(['SendMessage', 'SendStreamingMessage']);
    expect(by.get('with-id')).toEqual(['CreateTaskPushNotificationConfig']);
    expect(by.get('always')).toHaveLength(8);
  });

  it('has the same names as the schemas', () => {
    expect(Object.keys(schemas).sort()).toEqual([...operationNames].sort());
  });

  it.each(operationNames.filter((name) => operations[name].http[0].startsWith('GET')))(
    'has every member of the request of %s in its path or its query',
    (name) => {
      const row = operations[name];
      const inPath = [...row.http[0].matchAll(/\{(\w+)\}/g)].map(([, field]) => field!);
      const inQuery = 'query' in row ? Object.keys(row.query) : [];
      const schema = schemas[name].params;
      expect(['tenant', ...inPath, ...inQuery].sort()).toEqual(Object.keys(schema.def.out.shape).sort());

      const request = Object.fromEntries(
        [...inPath, ...inQuery].map((field) => [field, samples[field] ?? true]),
      );
      const numbers = Object.fromEntries(
        Object.entries('query' in row ? row.query : {})
          .filter(([, type]) => type === 'integer')
          .map(([field]) => [field, Number(samples[field])]),
      );
      expect(schema.parse(request)).toEqual({ ...request, ...numbers });
    },
  );

  it('turns names into method names', () => {
    expect(methodName('SubscribeToTask')).toBe('subscribeToTask');
    expectTypeOf(methodName('SubscribeToTask')).toEqualTypeOf<'subscribeToTask'>();
  });

  it('knows its names, and no others', () => {
    expect(operationNames.every(isOperationName)).toBe(true);
    for (const other of ['sendMessage', 'message/send', 'toString', '__proto__', '']) {
      expect(isOperationName(other)).toBe(false);
    }
  });

  it('types requests and replies', () => {
    expectTypeOf<Reply<'GetTask'>>().toEqualTypeOf<Promise<Task>>();
    expectTypeOf<Reply<'ListTasks'>>().toEqualTypeOf<Promise<ListTasksResponse>>();
    expectTypeOf<Reply<'SubscribeToTask'>>().toEqualTypeOf<AsyncIterable<StreamResponse>>();
    expectTypeOf<Params<'GetTask'>>().toEqualTypeOf<{
      id: string;
      tenant?: string | undefined;
      historyLength?: number | undefined;
      currentGeneration?: string | number | undefined;
      timelineLength?: string | number | undefined;
    }>();
  });
});

describe('the parts without schemas', () => {
  it.each(['operations', 'operation-table', 'errors', 'headers'])(
    '%s imports nothing that runs, so that a client stays small',
    (file) => {
      const source = readFileSync(new URL(`../src/${file}.ts`, import.meta.url), 'utf8');
      const imports = [...source.matchAll(/^(?:import|export) [^;]*? from '[^']*';$/gm)].map(
        ([line]) => line,
      );
      const running = imports.filter((line) => !line.startsWith('import type '));
      // The operations are the table, with types.
      expect(running.filter((line) => !line.endsWith("* from './operation-table.ts';"))).toEqual([]);
    },
  );
});
