import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { installWithApt } from './install.ts';
import { reportMissing } from './missing.ts';

const exec = promisify(execFile);
const howToGetIt = 'No promtool here: `apt-get install prometheus` or `brew install prometheus`.';

const isThere = (): Promise<boolean> =>
  exec('promtool', ['--version']).then(
    () => true,
    () => false,
  );

/** Whether promtool can run: it is there, or is installed now. Says how to get it where not, and throws there on CI. */
export async function hasPromtool(): Promise<boolean> {
  if (await isThere()) return true;
  await installWithApt('prometheus');
  if (await isThere()) return true;
  if (process.env.CI === 'true') throw new Error(howToGetIt);
  reportMissing(howToGetIt);
  return false;
}

/** Runs it. Resolves to its output; rejects with it if it finds a fault. `input`: its standard input. */
export async function promtool(args: readonly string[], cwd: string, input?: string): Promise<string> {
  const running = exec('promtool', [...args], { cwd });
  if (input !== undefined) running.child.stdin?.end(input);
  try {
    const { stdout, stderr } = await running;
    return stdout + stderr;
  } catch (error) {
    const { stdout = '', stderr = '' } = Object(error);
    throw new Error(`promtool ${args.join(' ')}\n${stdout}${stderr}`, { cause: error });
  }
}
