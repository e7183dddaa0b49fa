import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { Command } from 'commander';
import { addAgentFlags, addExample, addWaitFlags, type CommonOptions } from '../flags/agent-flags.ts';
import { sendAndWait } from '../following/wait.ts';
import { showReply } from '../output/render.ts';
import { interrupted, type Run, type RunContext } from '../run-context.ts';
import { FormPrompt } from './form-prompt.ts';

interface ChatFlags extends CommonOptions {
  readonly pollInterval: number;
  readonly taskId?: string;
  readonly contextId?: string;
}

export function addChat(program: Command, run: Run): void {
  const command = program
    .command('chat')
    .description('send each line of standard input, and keep the context and the task that waits')
    .option('--task-id <id>', 'continue this task')
    .option('--context-id <id>', 'start in this context');
  addExample(addWaitFlags(addAgentFlags(command)), 'chat -a localhost:4000').action(run<ChatFlags>(chat));
}

async function chat(context: RunContext<ChatFlags>): Promise<void> {
  const { io, options, output } = context;
  const agent = await context.agent();
  let { taskId, contextId } = options;
  // Each answer is a document of its own.
  output.isStreaming = true;
  const isPerson = io.stdin.isTTY === true && io.stderr.isTTY === true;
  const offered = agent.card.capabilities?.extensions ?? [];
  const known = isPerson && offered.length > 0 ? await import('@batonjs/extensions/client') : undefined;
  const forms = offered.some(({ uri }) => uri === known?.FORM_INPUT) ? known : undefined;
  let form: FormPrompt | undefined;
  const prompt = () => void (isPerson && io.stderr.write(form?.words || '> '));
  const lines = createInterface({ input: Readable.from(io.stdin), terminal: false });
  io.signal.addEventListener('abort', () => lines.close());
  prompt();
  for await (const line of lines) {
    form?.take(line);
    if (form ? !form.isDone : line.trim() === '') {
      prompt();
      continue;
    }
    const parts = [form?.part ?? { text: line }];
    const reply = await context.waiting((signal) =>
      context.withProgress(false, (progress) =>
        sendAndWait(
          agent,
          parts,
          {
            messageId: randomUUID(),
            task: taskId,
            contextId,
            extensions: forms && [forms.FORM_INPUT],
          },
          {
            pollMs: options.pollInterval,
            signal,
            onEvent: (_, task) => task && progress?.update(task.status.state, undefined),
          },
        ),
      ),
    );
    showReply(output, reply);
    contextId = reply.task?.contextId ?? reply.message?.contextId ?? contextId;
    const state = reply.task?.status.state;
    const waits = state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED';
    taskId = waits ? reply.task?.id : undefined;
    const asked = reply.task && forms?.formOf(reply.task);
    form = asked && new FormPrompt(asked);
    prompt();
  }
  if (io.signal.aborted && !isPerson) context.exitCode = interrupted;
}
