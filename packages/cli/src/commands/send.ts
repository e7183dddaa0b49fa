import { randomUUID } from 'node:crypto';
import type { AgentReply } from '@batonjs/client';
import type { Struct, Task } from '@batonjs/protocol';
import { textOf } from '@batonjs/protocol/parts';
import { type Command, Option } from 'commander';
import {
  addAgentFlags,
  addExample,
  addStreamFlag,
  addWaitFlags,
  type CommonOptions,
  toMetadata,
} from '../flags/agent-flags.ts';
import { addPartFlags, partsOf } from '../flags/part-flags.ts';
import { sendAndWait } from '../following/wait.ts';
import { idFields, showEvent, showReply } from '../output/render.ts';
import type { Run, RunContext } from '../run-context.ts';

interface SendFlags extends CommonOptions {
  readonly taskId?: string;
  readonly contextId?: string;
  readonly metadata?: Struct;
  readonly async?: boolean;
  readonly returnImmediately?: boolean;
  readonly wait?: boolean;
  readonly pollInterval: number;
}

export function addSend(program: Command, run: Run): void {
  const command = program
    .command('send')
    .description('send a message, and wait for its result')
    .argument('[text]', 'a text part, before those of the flags');
  addPartFlags(command)
    .option('--task-id <id>', 'continue this task')
    .option('--context-id <id>', 'start a new task in this context')
    .option('--metadata <json>', 'metadata of the request, a JSON object', toMetadata)
    .option('--async', 'do not wait: print the ids at once')
    .addOption(new Option('--return-immediately').hideHelp())
    .addOption(new Option('--no-wait').hideHelp())
    .option('--wait', 'wait, also where the settings say --async');
  addExample(addWaitFlags(addStreamFlag(addAgentFlags(command))), 'send -a localhost:4000 "100 USD"').action(
    run<SendFlags>(send),
  );
}

async function send(context: RunContext<SendFlags>, text: string | undefined): Promise<void> {
  const { options, output, command, io } = context;
  const parts = await partsOf(command, text, io);
  const { taskId, contextId, metadata, pollInterval } = options;
  const { agent } = await context.open();
  // Only agents with extensions can report progress.
  const offered = agent.card.capabilities?.extensions ?? [];
  const known = offered.length > 0 ? await import('@batonjs/extensions/client') : undefined;
  const offersProgress = offered.some(({ uri }) => uri === known?.TASK_PROGRESS);
  const message = {
    messageId: randomUUID(),
    task: taskId,
    ...{ contextId, metadata },
    extensions: known && offersProgress ? [known.TASK_PROGRESS] : undefined,
  };
  if (isAsync(context)) {
    const reply = await context.waiting((signal) =>
      agent.send(parts, { ...message, returnImmediately: true, signal }),
    );
    showReply(output, reply);
    if (reply.task) follow(context, reply.task);
    return;
  }
  const isStream = options.stream ?? false;
  let last: Task | undefined;
  const reply = await context.waiting((signal) =>
    context.withProgress(false, (line) =>
      sendAndWait(agent, parts, message, {
        pollMs: pollInterval,
        signal,
        onEvent(event, task) {
          if (task) context.know(task.id);
          if (isStream) showEvent(output, event);
          if (task) line?.update(textOf(task.status.message) || task.status.state, known?.progressOf(task));
          last = event.task;
        },
      }),
    ),
  );
  showEnd(context, reply, isStream, last);
}

/** The whole result; after events only what the last one did not say. */
function showEnd(context: RunContext, reply: AgentReply, isStream: boolean, last: Task | undefined): void {
  const { output } = context;
  if (!isStream) showReply(output, reply);
  else if (reply.task && !output.isJson && !last) output.fields(idFields(reply.task));
  if (reply.task) context.conclude(reply.task);
}

/** `--wait` on the command line overrides what the settings say. */
function isAsync({ options, command }: RunContext<SendFlags>): boolean {
  const { async: isAsked = false, returnImmediately = false, wait } = options;
  if (command.getOptionValueSource('wait') === 'cli') return wait === false;
  return isAsked || returnImmediately;
}

/** How to go on with a task that this command does not wait for. */
function follow(context: RunContext, { id }: Task): void {
  context.output.advise('Follow', context.commandLine('task get', id, '--wait'));
}
