import type { Task } from '@batonjs/protocol';
import type { AgentServer } from '@batonjs/server';
import { expect, vi } from 'vitest';
import { rpc } from './rpc.ts';

/** Repeats a check until it does not throw, and resolves to its result. Fails after 30 s: a busy machine gets its time. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 30_000, interval: 5 });

/** Resolves to the task once it is in this state: `COMPLETED`, without the prefix of the wire. Fails after 30 s. */
export const until = (server: Pick<AgentServer, 'fetch'>, id: string, state: string): Promise<Task> =>
  eventually(async () => {
    const task: Task = await rpc(server, 'GetTask', { id });
    expect(task.status.state).toBe(`TASK_STATE_${state}`);
    return task;
  });
