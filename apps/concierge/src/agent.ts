import type { AgentReply, ClientTelemetry } from '@batonjs/client';
import { type CallingTurn, type NestedTasks, nestedTasks, relayAll } from '@batonjs/nested-tasks';
import { completed, failed, inputRequired, reply, type Updates, working } from '@batonjs/server';
import { card } from './card.ts';
import { chooseAgent } from './choose-agent.ts';
import { failureOf } from './failure.ts';
import { openRemote, type Remotes } from './remotes.ts';

/** Options of the concierge. */
export interface ConciergeOptions {
  /** How long a remote agent may be out of reach, in milliseconds. Default 10,000. */
  readonly unreachableMs?: number;
  /** Is told about calls to the other agents, and hands the trace of a task on to them. */
  readonly telemetry?: ClientTelemetry;
}

/**
 * Hands requests to other agents and relays their answers to the user. Each is a child task: started once, followed after a
 * crash, canceled with the user's task.
 */
export function concierge(
  remotes: Remotes,
  { unreachableMs = 10_000, telemetry }: ConciergeOptions = {},
): NestedTasks {
  const byUrl = new Map(Object.values(remotes).map((remote) => [remote.url, remote]));
  return nestedTasks({
    card,
    agents: Object.fromEntries(Object.entries(remotes).map(([name, { url }]) => [name, url])),
    connect: (url) => openRemote(byUrl.get(url) ?? { url }, telemetry),
    unreachableMs,
    agent: (turn) => serve(turn, Object.keys(remotes)),
  });
}

async function* serve(turn: CallingTurn, names: readonly string[]): Updates {
  // A task has one remote agent: the call bears its name.
  const [asked] = Object.keys(turn.children);
  const name = asked ?? chooseAgent(turn.messages, names);
  if (!name || !names.includes(name)) return yield inputRequired(`Whom should I ask: ${names.join(', ')}?`);
  try {
    if (!asked) yield working(`Asking ${name}`);
    yield endOf(await turn.call(name, turn.message.parts, { name, relay: relayAll }));
  } catch (error) {
    if (turn.signal.aborted) throw error;
    yield failed(failureOf(error, name));
  }
}

/** The end of the user's task: that of the remote task, or its message. Where that says nothing, the state alone. */
function endOf({ task, message }: AgentReply) {
  if (!task) return completed(message?.parts);
  const { state, message: last } = task.status;
  if (!last?.parts.length) return { status: { state } };
  return { status: { state, message: { ...reply('The end'), parts: last.parts } } };
}
