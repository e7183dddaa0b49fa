import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/kit/processes.ts';
import { Connection } from './connection.ts';
import { call, message, type RpcTask } from './rpc.ts';

/** Starts a program of `contenders/quickstart` and asks until it answers. Resolves to milliseconds from its start to the right answer. */
export async function coldStart(program: string): Promise<number> {
  const path = fileURLToPath(new URL(`../contenders/quickstart/${program}`, import.meta.url));
  const port = await freePort();
  const start = performance.now();
  // As a user starts it: the installed files, without our conditions.
  const server = spawn(process.execPath, [path, String(port)], { stdio: 'inherit' });
  try {
    const url = `http://127.0.0.1:${port}`;
    for (;;) {
      if (server.exitCode !== null) throw new Error(`${program} ended with ${server.exitCode}`);
      const connection = await Connection.open(url).catch(() => undefined);
      if (!connection) {
        await pause(1);
        continue;
      }
      const params = message('message-1', 'Ada');
      const { task } = await call<{ task: RpcTask }>(connection, new URL(url).host, 1, 'SendMessage', params);
      const ms = performance.now() - start;
      connection.close();
      if (task.artifacts?.[0]?.parts[0]?.text !== 'Hello, Ada!') throw new Error(JSON.stringify(task));
      return ms;
    }
  } finally {
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
  }
}
