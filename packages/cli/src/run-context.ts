import type { AgentClient } from '@batonjs/client';
import type { Task } from '@batonjs/protocol';
import type { Command } from 'commander';
import { type OpenAgent, type OpenContext, openAgent } from './connection/open-agent.ts';
import { CliError, type FailureContext } from './errors/cli-error.ts';
import type { CommonOptions } from './flags/agent-flags.ts';
import { durationText } from './flags/duration.ts';
import type { Wait } from './following/wait.ts';
import type { Io } from './io.ts';
import { mayDraw, type Output, outputTo, ProgressLine, Redactor } from './output/output.ts';

/** Makes a command's action of a function of the run and of the arguments. */
export type Run = <Options extends CommonOptions = CommonOptions>(
  act: (context: RunContext<Options>, ...args: never[]) => Promise<void>,
) => (...args: unknown[]) => Promise<void>;

/** The exit code of a command that was told to end before it had done its work. */
export const interrupted = 130;

/** The exit code of a command with `--fail` whose task FAILED or was REJECTED. */
const taskFailed = 6;

export class RunContext<Options extends CommonOptions = CommonOptions> implements OpenContext {
  readonly io: Io;
  readonly command: Command;
  readonly options: Options;
  readonly redactor = new Redactor();
  readonly output: Output;
  /** The exit code of a command that did its job. */
  exitCode = 0;
  answered: Response | undefined;
  #opened: OpenAgent | undefined;
  #taskId: string | undefined;

  constructor(io: Io, command: Command) {
    this.io = io;
    this.command = command;
    this.options = command.opts() as Options;
    const { stream = false, bearer, apiKey, svcParam = {} } = this.options;
    for (const secret of [bearer, apiKey, ...Object.values(svcParam)]) this.redactor.hide(secret);
    this.output = outputTo(io, this.redactor, this.options);
    this.output.isStreaming = stream;
  }

  /** The context of a failure of this run. */
  get failure(): FailureContext {
    return {
      binding: this.#opened?.agent.interface.protocolBinding,
      hasCredentials: this.#opened?.hasCredentials ?? false,
      hint: this.#taskId === undefined ? undefined : this.commandLine('task get', this.#taskId, '--debug'),
    };
  }

  async open(): Promise<OpenAgent> {
    this.#opened ??= await openAgent(this);
    return this.#opened;
  }

  async agent(): Promise<AgentClient> {
    return (await this.open()).agent;
  }

  /** Shows the id on standard error as soon as it is known, so that it is not lost when the wait is interrupted. */
  know(taskId: string): void {
    if (this.#taskId === taskId) return;
    this.#taskId = taskId;
    this.output.note(`Waiting for task ${taskId}: Ctrl-C ends the wait, not the task`);
  }

  /** A command for the same agent that can be pasted into a shell. */
  commandLine(...words: readonly string[]): string {
    const { agentCard, endpoint, transport = [] } = this.options;
    const from = (name: string) => this.command.getOptionValueSource(name) === 'cli';
    const agent =
      endpoint !== undefined && from('endpoint')
        ? ['-e', quoted(endpoint), ...transport.flatMap((binding) => ['--transport', binding])]
        : agentCard !== undefined && from('agentCard')
          ? ['-a', quoted(agentCard)]
          : [];
    return [this.io.program, ...words, ...agent].join(' ');
  }

  /** Calls with a signal that ends the wait at `--timeout` or Ctrl-C. Rejects with `TIMEOUT` and how to go on. */
  async waiting<T>(use: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { timeout } = this.options;
    if (timeout === undefined) return use(this.io.signal);
    const late = AbortSignal.timeout(timeout);
    try {
      return await use(AbortSignal.any([this.io.signal, late]));
    } catch (error) {
      if (!late.aborted || this.io.signal.aborted) throw error;
      const id = this.#taskId;
      const hint = id === undefined ? undefined : this.commandLine('task get', id, '--wait');
      const why = `No terminal state within ${durationText(timeout)}`;
      throw new CliError('A2ACLI_ERR_TIMEOUT', why, hint, error);
    }
  }

  /** One call of the agent, as {@link waiting} makes it. */
  async call<T>(use: (agent: AgentClient, signal: AbortSignal) => Promise<T>): Promise<T> {
    const agent = await this.agent();
    return this.waiting((signal) => use(agent, signal));
  }

  /** Waits for a task of the agent, with a progress line that shows its state. */
  following<T>(
    this: RunContext<CommonOptions & { readonly pollInterval: number }>,
    use: (agent: AgentClient, wait: Wait) => Promise<T>,
    onEvent?: Wait['onEvent'],
    shown: (task: Task) => Parameters<ProgressLine['update']> = ({ status }) => [status.state],
  ): Promise<T> {
    return this.call((agent, signal) =>
      this.withProgress((line) =>
        use(agent, {
          pollMs: this.options.pollInterval,
          signal,
          onEvent(event, task) {
            onEvent?.(event, task);
            if (task) line?.update(...shown(task));
          },
        }),
      ),
    );
  }

  /** Draws a progress line for a person who waits, while `use` runs. */
  async withProgress<T>(use: (line: ProgressLine | undefined) => Promise<T>): Promise<T> {
    const { progress, debug, stream } = this.options;
    const isDrawn = progress !== 'never' && !(this.output.isJson || stream || debug) && mayDraw(this.io);
    if (!isDrawn) return use(undefined);
    const line = new ProgressLine(this.io);
    this.output.progress = line;
    line.start();
    try {
      return await use(line);
    } finally {
      line.stop();
      this.output.progress = undefined;
    }
  }

  /** Names an outcome that is no success, and how to go on with a task that waits. */
  conclude(task: Task): void {
    const { state } = task.status;
    if (state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED')
      this.output.advise('Resume', this.commandLine('send', '--task-id', quoted(task.id), '"…"'));
    if (['TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED'].includes(state))
      this.output.warn(`The task ended as ${state}`);
    if (this.options.fail && ['TASK_STATE_FAILED', 'TASK_STATE_REJECTED'].includes(state))
      this.exitCode = taskFailed;
  }
}

/** A word for a POSIX shell. */
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
