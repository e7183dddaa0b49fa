import { describe, expect, it } from 'vitest';
import { readListen } from '../../src/server/task-methods.ts';

describe('a request to be told of tasks', () => {
  const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
  const message = (more: object = {}, members: object = {}) => ({
    jsonrpc: '2.0',
    id: 7,
    method: 'subscriptions/listen',
    params: {
      _meta: { 'io.modelcontextprotocol/clientCapabilities': capabilities },
      notifications: { taskIds: ['a', 'b'] },
      ...more,
    },
    ...members,
  });

  it('[R-MT-41] is read with its id, its tasks and its client', () => {
    expect(readListen(message())).toEqual({ id: 7, taskIds: ['a', 'b'], client: capabilities });
    expect(readListen(message({}, { id: 'x' }))?.id).toBe('x');
    const most = Array.from({ length: 100 }, (_, n) => String(n));
    expect(readListen(message({ notifications: { taskIds: most } }))?.taskIds).toEqual(most);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['another method', message({}, { method: 'tools/list' })],
    ['another version of JSON-RPC', message({}, { jsonrpc: '1.0' })],
    ['no id', message({}, { id: undefined })],
    ['no params', message({}, { params: undefined })],
    ['no capabilities', message({ _meta: {} })],
    ['no meta', message({ _meta: undefined })],
    ['no notifications', message({ notifications: undefined })],
    ['notifications without tasks', message({ notifications: { toolsListChanged: true } })],
  ])('[R-MT-75] is left to the SDK where it has %s', (_what, given) => {
    expect(readListen(given)).toBeUndefined();
  });
});
