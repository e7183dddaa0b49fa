import { A2AError, type AgentClient, isTerminal } from '@batonjs/client';
import type { Command } from 'commander';
import { addAgentFlags, addExample, type CommonOptions } from '../flags/agent-flags.ts';
import { isSettled } from '../following/wait.ts';
import type { Run, RunContext } from '../run-context.ts';

type ConformanceFlags = CommonOptions & { readonly text: string };

export function addConformance(program: Command, run: Run): void {
  const command = program
    .command('conformance')
    .description('a smoke check of a running agent, with exit code 1 if it fails; the TCK checks more')
    .option('--text <text>', 'the message to send', 'Hello');
  addExample(addAgentFlags(command), 'conformance -a localhost:4000 --text "100 USD"').action(
    run<ConformanceFlags>(check),
  );
}

/** What a check may find, and its word for people. */
const words = { pass: 'Pass', fail: 'Fail', skip: 'Skip' } as const;

async function check(context: RunContext<ConformanceFlags>): Promise<void> {
  const { options, output } = context;
  const { agent, card } = await context.open();
  const { AgentCard } = await import('@batonjs/protocol');
  const findings: { readonly check: string; readonly result: keyof typeof words; readonly note?: string }[] =
    [];
  const add = async (check: string, test: () => Promise<string | undefined | false>) => {
    const note = await test().catch((error: Error) => error.message);
    if (note === false) findings.push({ check, result: 'skip', note: 'the card does not offer it' });
    else findings.push({ check, result: note === undefined ? 'pass' : 'fail', note });
  };
  let taskId: string | undefined;
  await add('the card fits its schema', async () => AgentCard.safeParse(card).error?.issues[0]?.message);
  await add('a message gets a message or a task', async () => {
    const reply = await agent.send(options.text);
    taskId = reply.task?.id;
    // The client refuses any other answer.
    return undefined;
  });
  await add('a task can be read', async () => {
    if (taskId === undefined) return false;
    const task = await agent.getTask({ id: taskId });
    return task.id === taskId ? undefined : `another task: ${task.id}`;
  });
  await add('tasks can be listed', async () => {
    const { tasks } = await agent.listTasks({ pageSize: 1 });
    return taskId === undefined || tasks.length === 1 ? undefined : `${tasks.length} tasks on a page of one`;
  });
  await add('an unknown task is TaskNotFoundError', () =>
    fails(agent.getTask({ id: 'no-such-task' }), 'TASK_NOT_FOUND'),
  );
  await add('an ended task cannot be canceled', () => cancelEnded(agent, taskId));
  await add('a stream ends with the task', async () => {
    if (!card.capabilities?.streaming) return false;
    const stream = agent.stream(options.text);
    const { task, message } = await stream.result();
    return message || (task && isSettled(task)) ? undefined : `it ended at ${task?.status.state}`;
  });
  await add('without push notifications, a webhook is refused', async () => {
    if (card.capabilities?.pushNotifications) return false;
    const config = { taskId: taskId ?? 'none', url: 'https://example.com/hook' };
    return fails(agent.createTaskPushNotificationConfig(config), 'PUSH_NOTIFICATION_NOT_SUPPORTED');
  });
  const failed = findings.filter(({ result }) => result === 'fail').length;
  output.result({ agent: card.name, findings, failed }, [
    ...findings.map(
      ({ check, result, note }) => [words[result], note ? `${check} (${note})` : check] as const,
    ),
    ['Failed', failed],
  ]);
  if (failed === 0) return;
  context.exitCode = 1;
  output.warn(`${failed} checks failed`);
}

async function cancelEnded(
  agent: AgentClient,
  taskId: string | undefined,
): Promise<string | undefined | false> {
  const task = taskId === undefined ? undefined : await agent.getTask({ id: taskId });
  if (!task || !isTerminal(task)) return false;
  if (task.status.state === 'TASK_STATE_CANCELED') return undefined;
  return fails(agent.cancelTask({ id: task.id }), 'TASK_NOT_CANCELABLE');
}

/** The problem with a call that must be refused with one error. */
async function fails(call: Promise<unknown>, reason: A2AError['reason']): Promise<string | undefined> {
  try {
    await call;
    return 'it was accepted';
  } catch (error) {
    if (A2AError.is(error, reason)) return undefined;
    return `it is refused with ${A2AError.is(error) ? error.reason : (error as Error).message}`;
  }
}
