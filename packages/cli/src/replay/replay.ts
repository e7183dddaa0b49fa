import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import fs, { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Agent } from '@batonjs/server';
import type { Comparison, Replayed, TaskRecording } from '@batonjs/testing';
import { type Command, Option } from 'commander';
import { callerText, openStore, storeText } from '../deployment/open-store.ts';
import { usage } from '../errors/cli-error.ts';
import { addExample, addOutputFlags, type CommonOptions, toCount, toTexts } from '../flags/agent-flags.ts';
import { toDuration } from '../flags/duration.ts';
import type { Run, RunContext } from '../run-context.ts';

interface ReplayFlags extends CommonOptions {
  readonly store: string;
  readonly agent: string;
  readonly name: string;
  readonly tenant?: string;
  readonly caller: string;
  readonly label?: readonly string[];
  readonly task?: readonly string[];
  readonly since?: number;
  readonly limit: number;
  readonly compare: Comparison;
  readonly save?: string;
}

export function addReplay(program: Command, run: Run): void {
  const command = program
    .command('replay')
    .description(
      'run new code on recorded tasks, without any effect; the exit code is 1 if it does otherwise, or a task was skipped',
    )
    .requiredOption('--store <url>', storeText)
    .requiredOption('--agent <file>', 'a module whose default export is an agent, or { agent, card }')
    .option('--name <name>', 'the name of the agent in the store', 'agent')
    .option('--tenant <name>', 'the tenant')
    .option('--caller <name>', callerText, '')
    .option('--task <id>', 'this task; may be repeated', toTexts)
    .option('--label <label>', 'only tasks with this label; may be repeated', toTexts)
    .option('--since <duration>', 'only tasks that changed within it, such as 24h', toDuration)
    .option('--limit <n>', 'so many tasks at most, those that changed last', toCount(1), 100)
    .addOption(
      new Option('--compare <how>', 'all that the agent says, ids and times aside, or only its shape')
        .choices(['exact', 'shape'])
        .default('exact'),
    )
    .option('--save <folder>', 'write each recording there, for `replayTask` in tests');
  addExample(
    addOutputFlags(command),
    'replay --store sqlite:.data/expense.db --name expense --agent ./src/agent.ts --since 24h',
  ).action(run<ReplayFlags>(replay));
}

async function replay(context: RunContext<ReplayFlags>): Promise<void> {
  const { options, output, io } = context;
  const file = resolve(io.cwd, options.agent);
  if (!existsSync(file)) throw usage(`There is no file ${file}`);
  const { recordings, skipped } = await readRecordings(options, io.cwd);
  if (options.save !== undefined) save(resolve(io.cwd, options.save), recordings);
  const { replayTask } = await import('@batonjs/testing');
  const tasks: Replayed[] = [];
  const allow = forbidEffects();
  try {
    const agent = await agentIn(file);
    const { compare } = options;
    for (const recording of recordings) tasks.push(await replayTask(agent, recording, { compare }));
  } finally {
    allow();
  }
  const different = tasks.filter(({ differences }) => differences.length > 0).length;
  context.exitCode = different + skipped.length > 0 ? 1 : 0;
  if (output.isJson) return output.json({ tasks, different, skipped });
  for (const { taskId, differences } of tasks)
    for (const { turn, attempt, position, message } of differences)
      output.field(
        'Difference',
        `${taskId}, turn ${turn}, attempt ${attempt}${position === undefined ? '' : `, fact ${position}`}: ${message}`,
      );
  for (const { taskId, reason } of skipped) output.field('Skipped', `${taskId}: ${reason}`);
  output.field('Tasks', tasks.length);
  output.field('Different', different);
}

interface Skipped {
  readonly taskId: string;
  readonly reason: string;
}

/** Reads the logs and closes the store: while an agent runs, nothing is open. */
async function readRecordings(
  { store: url, name, tenant, caller, task, label, since, limit }: ReplayFlags,
  cwd: string,
): Promise<{ recordings: readonly TaskRecording[]; skipped: readonly Skipped[] }> {
  const { scopeOf } = await import('@batonjs/server/internals');
  const { recordTask } = await import('@batonjs/testing');
  const scope = scopeOf(name, tenant, { scope: caller });
  const { store } = await openStore(url, cwd);
  const recordings: TaskRecording[] = [];
  const skipped: Skipped[] = [];
  try {
    const statusSince = since === undefined ? undefined : new Date(Date.now() - since).toISOString();
    const query = { answered: true, labels: label, statusSince, limit };
    const ids = task ?? (await store.list(scope, query)).tasks.map(({ taskId }) => taskId);
    for (const taskId of ids) {
      try {
        const recording = await recordTask(store, scope, taskId);
        if (recording) recordings.push(recording);
        else if (task) skipped.push({ taskId, reason: 'there is no such task' });
      } catch (error) {
        skipped.push({ taskId, reason: (error as Error).message });
      }
    }
  } finally {
    await store.close();
  }
  return { recordings, skipped };
}

function save(folder: string, recordings: readonly TaskRecording[]): void {
  mkdirSync(folder, { recursive: true });
  for (const recording of recordings)
    writeFileSync(
      join(folder, `${encodeURIComponent(recording.taskId)}.json`),
      `${JSON.stringify(recording, undefined, 2)}\n`,
      { mode: 0o600 },
    );
}

async function agentIn(file: string): Promise<Agent> {
  const { default: exported } = (await import(pathToFileURL(file).href)) as { readonly default?: unknown };
  const agent: unknown =
    typeof exported === 'function' ? exported : (Object(exported) as { readonly agent?: unknown }).agent;
  if (typeof agent !== 'function')
    throw usage(`${file} exports no agent`, 'Its default export is a function, or { agent, card }');
  return agent as Agent;
}

type Functions = Record<string, unknown>;

/** What reaches the world outside of a process, and leaves something there. */
const effects: readonly (readonly [target: object, what: string, names: readonly string[]])[] = [
  [net.Socket.prototype, 'a connection', ['connect']],
  [dgram.Socket.prototype, 'a datagram', ['send', 'connect']],
  [childProcess, 'a program', ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork']],
  [
    fs,
    'a change of a file',
    [
      'writeFile',
      'writeFileSync',
      'appendFile',
      'appendFileSync',
      'createWriteStream',
      'rm',
      'rmSync',
      'unlink',
      'unlinkSync',
      'rename',
      'renameSync',
      'mkdir',
      'mkdirSync',
    ],
  ],
  [fs.promises, 'a change of a file', ['writeFile', 'appendFile', 'rm', 'unlink', 'rename', 'mkdir']],
];

/**
 * Lets connections, programs and changes of files fail in this process, until the returned function is called. Code that
 * tries one gets an error with the code `REPLAY_EFFECT`.
 */
function forbidEffects(): () => void {
  const restored: (() => void)[] = [];
  for (const [target, what, names] of effects)
    for (const name of names) {
      const functions = target as Functions;
      const original = functions[name];
      functions[name] = () => {
        throw Object.assign(new Error(`${name}: ${what} is an effect outside of a step`), {
          code: 'REPLAY_EFFECT',
        });
      };
      restored.push(() => {
        functions[name] = original;
      });
    }
  // A branch of the agent that is not waited for any more may fail.
  const ignore = () => {};
  process.on('unhandledRejection', ignore);
  syncBuiltinESMExports();
  return () => {
    for (const restore of restored) restore();
    process.off('unhandledRejection', ignore);
    syncBuiltinESMExports();
  };
}
