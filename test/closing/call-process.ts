import { calls, idle } from './calls.ts';

/** A process that makes one call and nothing else. It closes nothing, and ends by itself; one that does not is ended. */
setTimeout(() => process.exit(99), 60_000).unref();
const name = process.argv[2] ?? '';
const result = await (calls[name] ?? idle[name])!();
process.stdout.write(name in calls ? JSON.stringify(result ?? null) : 'idle');
