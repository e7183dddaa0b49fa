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
import { type RemoteTask, remember } from './remote-task.ts';

/** Sends a message of the user on. Its id is derived from the task's, so another attempt sends the same message. */
export async function messageFor(
  remote: AgentClient,
  agent: string,
  { message, taskId, signal }: Turn,
  earlier: RemoteTask | undefined,
): Promise<RemoteTask> {
  const { task, message: said } = await remote.send(message.parts, {
    task: earlier?.taskId,
    contextId: earlier?.contextId,
    messageId: `${taskId}-${message.messageId}`,
    returnImmediately: true,
    signal,
  });
  if (task) return { agent, taskId: task.id, contextId: task.contextId };
  return { agent, contextId: said?.contextId, said: said?.parts } as RemoteTask;
}

/** Yields each update of the remote task as an update of this task. Questions carry the remote task in their metadata. */
export async function* relay(
  remote: AgentClient,
  remoteTask: RemoteTask & { readonly said?: Part[] },
  earlier: RemoteTask | undefined,
  turn: Turn,
): Updates {
  if (!remoteTask.taskId) return yield completed(remoteTask.said);
  const { taskId } = remoteTask;
  void handOn(remote, taskId, turn);
  for await (const event of remote.follow(taskId, { signal: turn.signal })) {
    const { task, statusUpdate, artifactUpdate } = event;
    for (const artifact of task?.artifacts ?? []) yield { artifact };
    if (artifactUpdate) {
      const { artifact, append, lastChunk } = artifactUpdate;
      yield { artifact, ...(append && { append }), ...(lastChunk && { lastChunk }) };
    }
    const status = task?.status ?? statusUpdate?.status;
    if (status && isNews(status, earlier)) yield { status: retold(status, remoteTask) };
  }
}

/** Sends on the messages that the user sends during the turn, such as one about an authorization. */
async function handOn(remote: AgentClient, task: string, { inbox, taskId }: Turn): Promise<void> {
  try {
    for await (const { parts, messageId } of inbox)
      await remote.send(parts, { task, messageId: `${taskId}-${messageId}`, returnImmediately: true });
  } catch {
    // The task or the turn has ended; `relay` reports how.
  }
}

/** Whether the user has not seen this status yet. A question may repeat while its answer is on its way. */
const isNews = ({ state, message }: Task['status'], earlier: RemoteTask | undefined): boolean =>
  /_REQUIRED$/.test(state)
    ? !message || message.messageId !== earlier?.questionId
    : isTerminal({ id: '', contextId: '', status: { state } }) ||
      (/_WORKING$/.test(state) && message !== undefined);

function retold(
  { state, message }: Task['status'],
  remoteTask: RemoteTask,
): { state: Task['status']['state']; message: Message } {
  const parts = message?.parts.length ? message.parts : [text(state.replace('TASK_STATE_', ''))];
  const metadata = remember({ ...remoteTask, questionId: message?.messageId });
  return { state, message: { messageId: crypto.randomUUID(), role: 'ROLE_AGENT', parts, metadata } };
}
