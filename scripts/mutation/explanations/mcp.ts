import type { Explanation } from './explanation.ts';

export const explanationsOfMcp: readonly Explanation[] = [
  {
    file: 'packages/mcp/src/flags.ts',
    line: "const [, name = '', variable = ''] = /^([^=]+)=(\\w+)$/.exec(header) ?? [];",
    replacements: ['"Stryker was here!"'],
    why: 'The same: without a name, nothing reads the variable.',
  },
  {
    file: 'packages/mcp/src/tools/call-tool.ts',
    line: 'if (!pending) return throwIfError(name, result ?? { content: [] });',
    why: 'No call has it: where no task is waited for, the server gave a result.',
  },
  {
    file: 'packages/mcp/src/tools/call-tool.ts',
    line: 'return { taskId, server: serverOf(client), ...(pollIntervalMs !== undefined && { pollIntervalMs }) };',
    replacements: ['true'],
    why: 'The same: what is remembered has no members that are undefined.',
  },
  {
    file: 'packages/mcp/src/http/task-streams.ts',
    line: "const clientLeft = { code: ProtocolErrorCode.InternalError, message: 'The client left' };",
    why: 'The same: the stream is closed, and nobody reads it.',
  },
  {
    file: 'packages/mcp/src/http/task-streams.ts',
    line: 'isEnding = true;',
    why: 'The same: a stream that was closed takes no second message.',
  },
  {
    file: 'packages/mcp/src/stdio/task-transport.ts',
    line: 'if (id === undefined || !listen) return this.#inner.send(message, options);',
    replacements: ['false'],
    why: 'The same: without an id there is no request to listen.',
  },
  {
    file: 'packages/mcp/src/stdio/task-transport.ts',
    line: 'this.onmessage?.(message);',
    why: 'No connection has it: the SDK sets the function before it starts the transport.',
  },
  {
    file: 'packages/mcp/src/tasks/handle.ts',
    line: 'if (id !== undefined && time !== undefined) return { id, createdAt: Number.parseInt(time, 36) };',
    replacements: ['true'],
    why: 'The same: the expression has both groups, or does not match.',
  },
  {
    file: 'packages/mcp/src/tools/wait-for-task.ts',
    line: 'if (Date.now() + intervalMs > end) {',
    replacements: ['Date.now() + intervalMs >= end'],
    why: 'Only a read that is due in the last millisecond shows it, and no test measures time.',
  },
];
