import { userInfo } from 'node:os';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { usage } from '../errors/cli-error.ts';
import type { CommonOptions } from '../flags/agent-flags.ts';
import type { RunContext } from '../run-context.ts';

/** The user of this process, who has the rights of an operator. */
export function operator(): string {
  try {
    return `operator ${userInfo().username}`;
  } catch {
    // A container may have no name for its user.
    return 'operator';
  }
}

/** The flag that agrees beforehand. */
export const yesFlag = ['--yes', 'do not ask before more than one task is changed'] as const;

/**
 * Asks the person at the terminal before more than one task is changed. `of`: what would be done, and to how many. Throws
 * `USAGE` where there is no terminal and `--yes` is not given.
 */
export async function mayChange(
  { io, options: { yes }, output }: RunContext<CommonOptions & { readonly yes?: boolean }>,
  of: () => Promise<readonly [string, number]>,
): Promise<boolean> {
  if (yes) return true;
  const [action, count] = await of();
  if (count < 2) return true;
  const question = `${action} ${count} tasks?`;
  if (!io.stdin.isTTY || !io.stderr.isTTY)
    throw usage(
      `${question} Nothing was done: there is no terminal to ask at`,
      'Give --yes, or look with --dry-run',
    );
  io.stderr.write(`${question} [y/N] `);
  const lines = createInterface({ input: Readable.from(io.stdin), terminal: false });
  io.signal.addEventListener('abort', () => lines.close());
  for await (const line of lines)
    if (/^y(es)?$/i.test(line.trim())) return true;
    else break;
  io.signal.throwIfAborted();
  output.note('Nothing was done');
  return false;
}
