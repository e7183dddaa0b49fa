import { type Command, InvalidArgumentError } from 'commander';
import { addAgentFlags, addExample, type CommonOptions } from '../flags/agent-flags.ts';
import { durationText, toDuration } from '../flags/duration.ts';
import { toCount, toRate } from '../flags/key-values.ts';
import type { Run } from '../run.ts';
import { interrupted, type RunContext } from '../run-context.ts';
import { kinds, type Mix, operationsOf } from './operations.ts';
import { rowsOf, tableOf } from './report.ts';
import { runLoad } from './run-load.ts';

interface LoadFlags extends CommonOptions {
  readonly callers: number;
  readonly rate?: number;
  readonly duration: number;
  readonly mix: Mix;
  readonly text: string;
}

/** Adds the command that calls an agent often, and says how it bears it. */
export function addLoad(program: Command, run: Run): void {
  const command = program
    .command('load')
    .description('call an agent many times, and print rates, latencies and errors')
    .option('--callers <n>', 'how many calls are under way at once, at most', toCount(1), 10)
    .option(
      '--rate <n/s>',
      'so many calls a second, though the agent may not keep up; without it as many as there can be',
      toRate,
    )
    .option('--duration <duration>', 'how long calls are begun', toDuration, 10_000)
    .option('--mix <mix>', `shares of ${Object.keys(kinds).join(', ')}, such as send=8,get=1`, toMix, {
      send: 1,
    })
    .option('--text <text>', 'the message that is sent', 'load');
  addExample(
    addAgentFlags(command),
    'load -a localhost:4000 --callers 50 --duration 1m --mix send=8,stream=1,list=1',
  ).action(run<LoadFlags>(load));
}

async function load(context: RunContext<LoadFlags>): Promise<void> {
  const { io, options, output } = context;
  const { callers, rate, duration, mix, text } = options;
  const operations = operationsOf(await context.agent(), text);
  output.note(`Calling for ${durationText(duration)}: Ctrl-C ends it and prints what was measured`);
  const ran = await runLoad({ operations, mix, callers, rate, durationMs: duration, signal: io.signal });
  const rows = rowsOf(ran);
  context.exitCode = io.signal.aborted ? interrupted : rows.some(({ calls }) => calls > 0) ? 0 : 1;
  if (output.isJson) output.json({ callers, rate, ms: Math.round(ran.ms), rows });
  else output.raw(tableOf(rows));
}

/** Reads shares such as `send=8,get=1`. */
export function toMix(text: string): Mix {
  const pairs = text.split(',').map((pair) => /^([a-z]+)=(\d{1,4})$/.exec(pair.trim()));
  const mix = Object.fromEntries(pairs.map((pair) => [String(pair?.[1]), Number(pair?.[2])]));
  const isKnown = Object.keys(mix).every((kind) => Object.hasOwn(kinds, kind));
  if (!isKnown || !Object.values(mix).some((share) => share > 0))
    throw new InvalidArgumentError(
      `A mix is shares of ${Object.keys(kinds).join(', ')}, such as send=8,get=1.`,
    );
  return mix;
}
