import { resolve } from 'node:path';
import type { Command } from 'commander';
import { usage } from '../../errors/cli-error.ts';
import { addExample, addOutputFlags, type CommonOptions, toTexts } from '../../flags/agent-flags.ts';
import { durationText, toDuration } from '../../flags/duration.ts';
import type { Run, RunContext } from '../../run-context.ts';
import { callerText, openStore, type ScopeFlags, storeText, withStore } from '../open-store.ts';
import type { Counts } from './lines.ts';

type StoreFlags = CommonOptions<'files'> & { readonly store: string };

const filesText = 'the folder of the files of its tasks, as folderFiles has it';

type ExportFlags = StoreFlags &
  CommonOptions<never, 'withoutSecrets' | 'resume'> &
  Pick<ScopeFlags, 'agent' | 'tenant' | 'caller'>;

type CopyFlags = CommonOptions<'files' | 'filesTo'> & {
  readonly from: string;
  readonly to: string;
  readonly stopFor: number;
};

/** Adds `store` with what moves a whole store, and reads all of it. */
export function addStore(program: Command, run: Run): void {
  const store = program
    .command('store')
    .description('move all of a store into another one, or check all of it');
  const add = (command: Command, example: string) => addExample(addOutputFlags(command), `store ${example}`);
  add(
    store
      .command('export')
      .description('write all of a store into a file of JSON lines, which only you can read')
      .argument('<file>', 'a new file')
      .requiredOption('--store <url>', storeText)
      .option('--caller <name>', `only of callers; may be repeated. ${callerText}`, toTexts)
      .option('--agent <name>', 'with --caller: the name of the agent in the store', 'agent')
      .option('--tenant <name>', 'with --caller: the tenant')
      .option('--without-secrets', 'leave out memory, credentials of webhooks and the keys of callbacks')
      .option('--files <folder>', `${filesText}: they are copied to <file>.files`)
      .option('--resume', 'go on with a file that is not complete'),
    'export --store sqlite:tasks.db tasks.jsonl',
  ).action(run<ExportFlags>(exportAll));
  add(
    store
      .command('import')
      .description('put all of a file into an empty store')
      .argument('<file>', 'one that store export has written')
      .requiredOption('--store <url>', `${storeText}; it has to be empty`)
      .option('--files <folder>', `${filesText}: those of <file>.files are copied to it first`),
    'import --store postgres://localhost/tasks tasks.jsonl',
  ).action(run<StoreFlags>(importAll));
  add(copyCommand(store), 'copy --from sqlite:tasks.db --to postgres://localhost/tasks').action(
    run<CopyFlags>(copy),
  );
  add(
    store
      .command('unfreeze')
      .description('let a store take writes again that was copied into another one')
      .requiredOption('--store <url>', storeText),
    'unfreeze --store sqlite:tasks.db',
  ).action(run<StoreFlags>(unfreeze));
  add(
    store
      .command('verify')
      .description('read all of a store, and name what is damaged; the exit code is 1 if anything is')
      .requiredOption('--store <url>', storeText)
      .option('--files <folder>', `${filesText}: each is read, and its hash compared`),
    'verify --store sqlite:tasks.db',
  ).action(run<StoreFlags>(verify));
}

const copyCommand = (store: Command): Command =>
  store
    .command('copy')
    .description(
      'copy a store into an empty one while processes work on it; in the end it takes no more writes',
    )
    .requiredOption('--from <url>', storeText)
    .requiredOption('--to <url>', `${storeText}; it has to be empty`)
    .option('--files <folder>', filesText)
    .option('--files-to <folder>', 'the folder to which they are copied')
    .option(
      '--stop-for <duration>',
      'so long at most are writes refused before it is complete',
      toDuration,
      5_000,
    );

async function exportAll(context: RunContext<ExportFlags>, file: string): Promise<void> {
  const { options, output, io } = context;
  const { agent, tenant, caller, withoutSecrets, resume } = options;
  const { exportStore } = await import('./export-store.ts');
  const { scopeOf } = await import('@batonjs/server/internals');
  const path = resolve(io.cwd, file);
  const callers = caller?.map((scope) => scopeOf(agent, tenant, { scope }));
  const counts = await context.withProgress((line) =>
    withStore(context, (store) =>
      exportStore(store, path, {
        callers,
        ...{ withoutSecrets, resume },
        onProgress: ({ tasks }) => line?.update(`${tasks} tasks`),
      }),
    ),
  );
  // After the log: it names no file that is not durable.
  await copiedFiles(context, options.files, `${path}.files`, callers);
  output.note(
    withoutSecrets
      ? 'The file holds what callers and agents said, results of steps, and the addresses of webhooks'
      : 'The file holds all secrets of the store: memory of agents, credentials of webhooks, keys of callbacks',
  );
  output.note('Not in it: the order of callers in queues, and how much of a rate is used');
  output.result({ file: path, ...counts }, [...countsOf(counts), ['File', path]]);
}

const countsOf = ({ tasks, facts, records }: Counts): (readonly [string, number])[] => [
  ['Tasks', tasks],
  ['Facts', facts],
  ['Records', records],
];

/** Copies files from one folder to another one, if both are given. */
async function copiedFiles(
  { io, output }: RunContext<CommonOptions>,
  from: string | undefined,
  to: string | undefined,
  scopes?: readonly string[],
): Promise<void> {
  if (from === undefined || to === undefined) return;
  const { copyFiles } = await import('./store-files.ts');
  output.note(`${await copyFiles(resolve(io.cwd, from), resolve(io.cwd, to), scopes)} files were copied`);
}

async function importAll(context: RunContext<StoreFlags>, file: string): Promise<void> {
  const { options, output, io } = context;
  const { checkFile, importStore } = await import('./import-store.ts');
  const path = resolve(io.cwd, file);
  // Before a new store is made.
  const counts = await checkFile(path);
  await copiedFiles(context, options.files && `${path}.files`, options.files);
  const { store } = await openStore(options.store, io.cwd, true);
  await context
    .withProgress((line) => importStore(store, path, (done) => line?.update(`${done} tasks`)))
    .finally(() => store.close());
  output.result(counts, countsOf(counts));
}

async function copy(context: RunContext<CopyFlags>): Promise<void> {
  const { options, output, io } = context;
  const { copyStore } = await import('./copy-store.ts');
  if ((options.files === undefined) !== (options.filesTo === undefined))
    throw usage('--files and --files-to are given together');
  const files = () => copiedFiles(context, options.files, options.filesTo);
  const from = await openStore(options.from, io.cwd);
  const to = await openStore(options.to, io.cwd, true).catch(async (error) => {
    await from.store.close();
    throw error;
  });
  try {
    // Most of them while processes work. Those that came meanwhile were durable before a log named them.
    await files();
    const copied = await copyStore(from.store, to.store, {
      stopMs: options.stopFor,
      signal: io.signal,
      onPass: ({ tasks, changed, ms }) =>
        output.note(`A pass of ${durationText(ms)}: ${tasks} tasks, ${changed} tasks and records written`),
    });
    await files();
    const { tasks, passes, refusedMs } = copied;
    output.result(copied, [
      ['Tasks', tasks],
      ['Passes', passes],
      ['Refused for', durationText(refusedMs)],
    ]);
    output.note('The store that was copied takes no more writes: start all processes on the new one now');
  } finally {
    await from.store.close();
    await to.store.close();
  }
}

async function unfreeze(context: RunContext<StoreFlags>): Promise<void> {
  await withStore(context, async ({ transfer, probe }) => {
    await transfer?.freeze?.(0);
    await probe?.();
  });
  context.output.result({ takesWrites: true }, [['Takes writes', true]]);
}

async function verify(context: RunContext<StoreFlags>): Promise<void> {
  const { output, io, options } = context;
  const { verifyStore } = await import('./verify-store.ts');
  const damages: object[] = [];
  const found = await context.withProgress((line) =>
    withStore(context, (store) =>
      verifyStore(store, {
        files: options.files && resolve(io.cwd, options.files),
        onProgress: ({ tasks }) => line?.update(`${tasks} tasks`),
        onDamage(damage) {
          if (damages.length < 1_000) damages.push(damage);
          output.warn(`${damage.of}: ${damage.why}`);
        },
      }),
    ),
  );
  context.exitCode = found.damaged > 0 ? 1 : 0;
  output.result({ ...found, damages }, [...countsOf(found), ['Damaged', found.damaged]]);
}
