/** `turbo run` of the tasks that are named, without its notices; what a task writes is shown only if it fails. */
import { spawnSync } from 'node:child_process';

const { status, error } = spawnSync('turbo', ['run', ...process.argv.slice(2), '--output-logs=errors-only'], {
  env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' },
  stdio: 'inherit',
});
if (error) throw error;
process.exitCode = status ?? 1;
