/**
 * `pnpm chaos:gateway --store sqlite --tasks 500 --kills 40`: submits each task twice, through two processes of a task gateway
 * on one store that are killed meanwhile, and watches it through both. The agent keeps a ledger of the tasks that it ran.
 * The last line counts what was run twice, lost, or seen in another order; the exit code is 1 if anything was.
 *
 * `--store redis` and `--store postgres` start a server of their own. `--foreign`: the agent has no idempotency.
 */
import { chaos } from './gateway-chaos/chaos.ts';
import { readOptions } from './gateway-chaos/options.ts';

const { violations, ...report } = await chaos(readOptions(process.argv.slice(2)));
for (const violation of violations.slice(0, 30)) console.error(violation);
console.log(JSON.stringify({ ...report, violations: violations.length }));
process.exit(violations.length > 0 ? 1 : 0);
