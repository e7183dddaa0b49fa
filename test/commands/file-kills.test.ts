import { describe, expect, it } from 'vitest';
import { node, run } from '../kit/processes.ts';
import { repetitions } from '../kit/repetitions.ts';
import { canStartPostgres } from '../support/postgres.ts';

/** Runs the kills; resolves to the exit code and to what was written. */
async function fileKills(...args: string[]) {
  await using command = run(node, ['--conditions=@batonjs/source', 'scripts/file-kills.ts', ...args]);
  return { code: await command.ended, output: command.output };
}

describe.each([
  ['sqlite', true],
  ['postgres', await canStartPostgres()],
] as const)('files of tasks in %s', (database, isThere) => {
  it.skipIf(!isThere)(
    'are whole, and of a task, when processes die at any write',
    { timeout: 600_000 },
    async () => {
      const kills = repetitions(6, 200);
      const { code, output } = await fileKills('--database', database, '--kills', `${kills}`);
      expect(JSON.parse(output.trimEnd().split('\n').at(-1) ?? ''), output).toMatchObject({
        kills,
        faults: 0,
      });
      expect(code).toBe(0);
    },
  );
});

it('files that are stored after the log names them are noticed', { timeout: 300_000 }, async () => {
  const { code, output } = await fileKills('--kills', '6', '--sabotage');
  expect(code, output).toBe(1);
});
