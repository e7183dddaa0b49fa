import type { CommonOptions } from './flags/agent-flags.ts';
import type { RunContext } from './run-context.ts';

/** Makes a command's action of a function of the run and of the arguments. */
export type Run = <Options extends CommonOptions = CommonOptions>(
  act: (context: RunContext<Options>, ...args: never[]) => Promise<void>,
) => (...args: unknown[]) => Promise<void>;
