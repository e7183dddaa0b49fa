import type { Command } from 'commander';
import { addExample, addOutputFlags, type CommonOptions } from '../flags/agent-flags.ts';
import type { Run, RunContext } from '../run-context.ts';
import { storeText, withStore } from './open-store.ts';

interface RotateFlags extends CommonOptions {
  readonly store: string;
}

export function addCallbacks(program: Command, run: Run): void {
  const callbacks = program.command('callbacks').description('the URLs of callbacks and answer links');
  const rotate = callbacks
    .command('rotate-key')
    .description('sign new URLs with a new key: those of the key before it count until the next change')
    .requiredOption('--store <url>', storeText);
  addExample(addOutputFlags(rotate), 'callbacks rotate-key --store sqlite:.data/expense.db').action(
    run<RotateFlags>(rotateKey),
  );
}

async function rotateKey(context: RunContext<RotateFlags>): Promise<void> {
  const { rotateCallbackKey } = await import('@batonjs/operator');
  await withStore(context, rotateCallbackKey);
  context.output.result({ rotated: true }, [['Rotated', true]]);
}
