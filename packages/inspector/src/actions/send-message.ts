import { FORM_INPUT, TASK_ERROR, TASK_PROGRESS, TYPED_SKILLS } from '@batonjs/extensions/client';
import type { Message } from '@batonjs/protocol';
import type { AgentLink } from '../agents/agent-link.ts';
import { INSPECTOR, type SendCommand, type Sent } from '../api/command.ts';
import { Recording } from '../timeline/recording.ts';
import type { Recordings } from '../timeline/recordings.ts';

/** Extensions whose content the app shows. They are activated if the card offers them. */
const shown: readonly string[] = [FORM_INPUT, TASK_PROGRESS, TASK_ERROR, TYPED_SKILLS];

/** How long a message waits for the first sign of its task, in milliseconds. */
const firstEventMs = 60_000;

/**
 * Sends a message. Resolves when the agent answered or its task exists; the task is followed from then
 * on, if there are `recordings`.
 */
export async function sendMessage(
  link: AgentLink,
  recordings: Recordings | undefined,
  command: SendCommand,
): Promise<Sent> {
  const { parts, taskId, contextId, references = [], metadata, sentBy } = command;
  const client = await link.client();
  const offered = client.card.capabilities?.extensions?.map(({ uri }) => uri) ?? [];
  const message: Message = {
    role: 'ROLE_USER',
    messageId: crypto.randomUUID(),
    parts: [...parts],
    ...(taskId && { taskId }),
    ...(contextId && { contextId }),
    ...(references.length > 0 && { referenceTaskIds: [...references] }),
    ...(sentBy !== undefined && { metadata: { [INSPECTOR]: { sentBy } } }),
  };
  const options = { extensions: offered.filter((uri) => shown.includes(uri)), ...(metadata && { metadata }) };
  if (taskId || !recordings) {
    if (taskId) recordings?.of(taskId).sent(message);
    const reply = await client.send(message, { ...options, returnImmediately: true });
    if (taskId) recordings?.open(taskId);
    return reply.task ? { taskId: reply.task.id } : answered(reply.message);
  }
  const recording = new Recording();
  recording.sent(message);
  recording.follow(async (tap, call) => (await link.connect(tap)).stream(message, { ...options, ...call }));
  await recording.begun(firstEventMs);
  if (!recording.task) {
    recording.stop();
    if (recording.answer) return answered(recording.answer);
    throw recording.failure ?? new Error('The agent said nothing');
  }
  recordings.adopt(recording.task.id, recording);
  return { taskId: recording.task.id };
}

const answered = ({ parts, contextId }: Message): Sent => ({
  message: { parts, ...(contextId && { contextId }) },
});
