import type { AgentEvent } from '@batonjs/client';
import type { Task } from '@batonjs/protocol';

/**
 * The events of a stream in the order of their generations. Where values are missing, calls `readTask`, yields the task
 * that it resolves to, and drops the events that the task contains. Events without a generation pass as they are; after
 * one that contradicts itself, generations are not used any more in this stream. Spec: §3.2.7 of A2A 1.1, as planned.
 */
export async function* inGenerationOrder(
  events: AsyncIterable<AgentEvent>,
  readTask: (taskId: string) => Promise<Task>,
): AsyncGenerator<AgentEvent, void, void> {
  let isUsed = true;
  let known = 0;
  // The generation of the task that was read: it contains the events up to there.
  let contained = 0;
  for await (const event of events) {
    const { task, statusUpdate, artifactUpdate } = event;
    const update = statusUpdate ?? artifactUpdate;
    const { generation } = task ?? update ?? {};
    if (isUsed && generation !== undefined) {
      const next = Number(generation);
      if (next && (next <= contained || next < known)) continue;
      if (!next || (update && next === known)) isUsed = false;
      else if (update && known && next > known + 1) {
        const whole = await readTask(update.taskId);
        yield { task: whole };
        contained = Number(whole.generation ?? 0);
        if (next <= contained) {
          known = contained;
          continue;
        }
      }
      known = next;
    }
    yield event;
  }
}
