import { onTestFinished } from 'vitest';
import { node, run } from '../../../../../test/kit/processes.ts';
import { builtProgram } from '../../../../../test/support/built-program.ts';

const program = await builtProgram(new URL('./server-process.ts', import.meta.url));

/** A server of MCP in a process of its own until the test ends, with its tasks in a folder. */
export async function startServer(folder: string, port = 0) {
  const command = run(node, [program, folder, String(port)]);
  onTestFinished(() => command[Symbol.asyncDispose]());
  const [, bound = ''] = /listening at (\d+)/.exec(await command.until(/listening at \d+/)) ?? [];
  return {
    port: Number(bound),
    url: new URL(`http://127.0.0.1:${bound}/mcp`),
    async kill() {
      command.signal('SIGKILL');
      await command.ended;
    },
    async stop() {
      command.signal('SIGTERM');
      return await command.ended;
    },
  };
}
