import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { type Command, node, run } from '../../../../test/kit/processes.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { builtProgram } from '../../../../test/support/built-program.ts';

const program = await builtProgram(new URL('./paying-process.ts', import.meta.url));

it('a process that stood still for longer than its lease cannot commit after the one that took over', async () => {
  const folder = temporaryFolder();
  const bank = new DatabaseSync(join(folder, 'bank.db'));
  onTestFinished(() => bank.close());
  bank.exec('pragma journal_mode = wal; create table payments (attempt integer)');
  const start = (env: Record<string, string>): Command => {
    const command = run(node, [program], { env: { FOLDER: folder, ...env } });
    onTestFinished(() => command[Symbol.asyncDispose]());
    return command;
  };
  const first = start({ SEND: 'yes' });
  await first.until(/begins/);
  first.signal('SIGSTOP');
  await start({}).until(/attempt 2 paid/);
  first.signal('SIGCONT');
  await first.until(/attempt 1 was refused: TransactionError FENCED/);
  expect(bank.prepare('select attempt from payments').all()).toEqual([{ attempt: 2 }]);
});
