import { join } from 'node:path';
import { type AgentClient, connect } from '@batonjs/client';
import { onTestFinished } from 'vitest';
import { type Command, freePort, node, run } from '../../../../test/kit/processes.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { builtProgram } from '../../../../test/support/built-program.ts';

const program = await builtProgram(new URL('./parent.ts', import.meta.url));

/** A parent in a process of its own, with its tasks in a file. */
export interface ParentProcess {
  readonly client: AgentClient;
  /** Kills the process where it stands. */
  kill(): Promise<void>;
  /** Resolves when the process has died. */
  readonly died: Promise<unknown>;
  /** Starts the next process on the same tasks, which dies nowhere unless `die` says so. */
  restart(die?: string): Promise<void>;
  /** Where the agent is reached that is in the process itself. */
  readonly localUrl: string;
}

/** Starts a parent of the agent at `child`, until the test ends. It dies at the point that `die` names. */
export async function startParent(
  child: string,
  die?: string,
  env: Record<string, string> = {},
): Promise<ParentProcess> {
  const PORT = String(await freePort());
  const DATABASE = join(temporaryFolder(), 'tasks.db');
  let command: Command | undefined;
  onTestFinished(async () => command?.[Symbol.asyncDispose]());
  const start = async (DIE = '') => {
    command = run(node, [program], { env: { PORT, DATABASE, CHILD: child, DIE, ...env } });
    await command.until(/parent is at http/);
  };
  await start(die);
  return {
    client: await connect(`http://127.0.0.1:${PORT}`),
    get died() {
      return command!.ended;
    },
    async kill() {
      command!.signal('SIGKILL');
      await command!.ended;
    },
    restart: start,
    get localUrl() {
      return /local agent is at (\S+)\//.exec(command!.output)![1]!;
    },
  };
}
