import type { Command } from 'commander';
import { addOutputFlags, type CommonOptions } from '../flags/agent-flags.ts';
import type { Run } from '../run.ts';
import type { RunContext } from '../run-context.ts';
import { openStore } from './open-store.ts';

interface RotateFlags extends CommonOptions {
  readonly store: string;
}

export function addCallbacks(program: Command, run: Run): void {
  const callbacks = program.command('callbacks').description('the URLs of callbacks and answer links');
  const rotate = callbacks
    .command('rotate-key')
    .description('sign new URLs with a new key: those of the key before it count until the next change')
    .requiredOption('--store <url>', 'sqlite:<path>, redis://…, postgres://… or etcd://…');
  addOutputFlags(rotate)
    .addHelpText('after', '\nExample:\n  $ baton callbacks rotate-key --store sqlite:.data/expense.db\n')
    .action(run<RotateFlags>(rotateKey));
}

async function rotateKey({ options, output, io }: RunContext<RotateFlags>): Promise<void> {
  const { rotateCallbackKey } = await import('@batonjs/operator');
  const { store } = await openStore(options.store, io.cwd);
  try {
    await rotateCallbackKey(store);
    if (output.isJson) output.json({ rotated: true });
    else output.field('Rotated', true);
  } finally {
    await store.close();
  }
}
