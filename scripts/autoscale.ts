/**
 * `pnpm autoscale --store redis://127.0.0.1:6379`: drains a full queue with 1, 2 and 4 workers, then lets workers come and go
 * with the queue. Real processes on one machine. The exit code is 1 if a task is lost or an effect is done twice.
 */
import { parseArgs } from 'node:util';
import { autoscale, drain } from './scaling/simulation.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: process.env.BATON_STORE ?? 'redis://127.0.0.1:6379' },
    tasks: { type: 'string', default: '10000' },
    turns: { type: 'string', default: '20' },
    'turn-ms': { type: 'string', default: '100' },
    workers: { type: 'string', default: '1,2,4' },
  },
});
const program = new URL('./scaling/worker.ts', import.meta.url).pathname;
const options = {
  store: values.store,
  program,
  tasks: Number(values.tasks),
  turns: Number(values.turns),
  turnMs: Number(values['turn-ms']),
};

let isWrong = false;
for (const workers of values.workers.split(',').filter(Boolean).map(Number)) {
  const outcome = await drain({ ...options, workers });
  isWrong ||= outcome.lost > 0 || outcome.doubled > 0;
  console.log(JSON.stringify({ workers, ...outcome }));
}
const scaled = await autoscale({ ...options, held: 8, most: 4, everyMs: 200 });
isWrong ||= scaled.lost > 0 || scaled.doubled > 0 || scaled.exitCodes.some((code) => code !== 0);
console.log(JSON.stringify({ autoscaled: true, ...scaled }));
process.exitCode = isWrong ? 1 : 0;
