import { type AgentClient, isTerminal } from '@batonjs/client';
import {
  completed,
  type Message,
  type Part,
  type Task,
  type Turn,
  text,
  type Updates,
} from '@batonjs/server';
import { type Errand, remember } from './errand.ts';

/** Hands a message of the user on, under an id that another attempt would use again. Resolves to what it started. */
export async function messageFor(
  remote: AgentClient,
  agent: string,
  { message, taskId, signal }: Turn,
  earlier: Errand | undefined,
): Promise<Errand> {
  const { task, message: said } = await remote.send(message.parts, {
    task: earlier?.taskId,
    contextId: earlier?.contextId,
    messageId: `${taskId}-${message.messageId}`,
    returnImmediately: true,
    signal,
  });
  if (task) return { agent, taskId: task.id, contextId: task.contextId };
  return { agent, contextId: said?.contextId, said: said?.parts } as Errand;
}

/** What happens to the remote task, as what happens to ours. Its questions are remembered with ours. */
export async function* relay(
  remote: AgentClient,
  errand: Errand & { readonly said?: Part[] },
  earlier: Errand | undefined,
  turn: Turn,
): Updates {
  if (!errand.taskId) return yield completed(errand.said);
  const { taskId } = errand;
  void handOn(remote, taskId, turn);
  for await (const event of remote.follow(taskId, { signal: turn.signal })) {
    const { task, statusUpdate, artifactUpdate } = event;
    for (const artifact of task?.artifacts ?? []) yield { artifact };
    if (artifactUpdate) {
      const { artifact, append, lastChunk } = artifactUpdate;
      yield { artifact, ...(append && { append }), ...(lastChunk && { lastChunk }) };
    }
    const status = task?.status ?? statusUpdate?.status;
    if (status && isNews(status, earlier)) yield { status: retold(status, errand) };
  }
}

/** Messages that the user sends meanwhile, such as about an authorization. */
async function handOn(remote: AgentClient, task: string, { inbox, taskId }: Turn): Promise<void> {
  try {
    for await (const { parts, messageId } of inbox)
      await remote.send(parts, { task, messageId: `${taskId}-${messageId}`, returnImmediately: true });
  } catch {
    // The task has ended, or the turn: whoever follows it hears how.
  }
}

/** Whether the user does not know it: the remote task may not have taken the answer to its question yet. */
const isNews = ({ state, message }: Task['status'], earlier: Errand | undefined): boolean =>
  /_REQUIRED$/.test(state)
    ? !message || message.messageId !== earlier?.questionId
    : isTerminal({ id: '', contextId: '', status: { state } }) ||
      (/_WORKING$/.test(state) && message !== undefined);

function retold(
  { state, message }: Task['status'],
  errand: Errand,
): { state: Task['status']['state']; message: Message } {
  const parts = message?.parts.length ? message.parts : [text(state.replace('TASK_STATE_', ''))];
  const metadata = remember({ ...errand, questionId: message?.messageId });
  return { state, message: { messageId: crypto.randomUUID(), role: 'ROLE_AGENT', parts, metadata } };
}
