import { type AgentEvent, textOf } from '@batonjs/client';
import { progressOf, TASK_PROGRESS } from '@batonjs/extensions/client';
import type { AgentCard } from '@batonjs/protocol';
import type { ServerContext } from '@modelcontextprotocol/server';

/** The most characters of a message that one notification has. */
const longestMessage = 1_000;

/**
 * Tells a client that sent a `progressToken` of each update of the task, and does nothing for others. The numbers are
 * the agent's own where it offers the extension for progress, and count the updates where it does not. They only grow,
 * as MCP wants them to.
 */
export function progressNotifier(
  { mcpReq }: ServerContext,
  card: AgentCard,
): (event: AgentEvent) => Promise<void> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return async () => {};
  const hasNumbers = card.capabilities?.extensions?.some(({ uri }) => uri === TASK_PROGRESS);
  let last = 0;
  return async (event) => {
    const { statusUpdate, artifactUpdate } = event;
    if (!statusUpdate && !artifactUpdate) return;
    const known = hasNumbers ? progressOf(event) : undefined;
    const progress = known?.progress ?? (hasNumbers ? last : last + 1);
    // An update without a number that grows goes a little further, so that its text is seen.
    const next = progress > last ? progress : last + 1e-6;
    last = next;
    const text = textOf(statusUpdate?.status.message ?? artifactUpdate?.artifact).slice(0, longestMessage);
    await mcpReq.notify({
      method: 'notifications/progress',
      params: {
        progressToken,
        progress: next,
        ...(known && { total: known.total }),
        ...(text && { message: text }),
      },
    });
  };
}
