import type { AgentClient, ConnectOptions } from '@batonjs/client';
import { skillSchemas } from '@batonjs/extensions/internals';
import type { Callee } from '@batonjs/nested-tasks';
import { Agents, connectWithin } from '@batonjs/nested-tasks/internals';
import type { AddressPolicyOptions } from '@batonjs/server/address-policy';

/**
 * The agent behind a task type: a server in this process, a connected client (with its credentials), or the URL of an
 * agent or of its card.
 */
export type TaskAgentTarget = Callee;

/** The task types and their agents. A type may also be `<name>/<skill id>`, which names one skill of the agent. */
export type TaskTypes = Readonly<Record<string, TaskAgentTarget>>;

/** The agent of one task. */
export interface Target {
  readonly agent: AgentClient;
  /** The skill that the type names; undefined if it names the agent only. */
  readonly skillId: string | undefined;
  /** Whether the agent is in this process and on a store of ours, so that a task that it does not list does not exist. */
  readonly isLocal: boolean;
}

/** Finds and connects agents by task type. */
export interface Targets {
  has(type: string): boolean;
  /** Connects, at the first use of the type. Rejects as `connect` does; the next call connects again. */
  open(type: string): Promise<Target>;
}

/** How agents are connected. */
type Connecting = Pick<ConnectOptions, 'timeoutMs' | 'telemetry'>;

export function createTargets(
  types: TaskTypes,
  connecting: Connecting,
  addresses: AddressPolicyOptions | undefined,
): Targets {
  const { telemetry } = connecting;
  const agents = new Agents({ agents: types, telemetry, connect: connectWithin(addresses, connecting) });
  const find = (type: string): { name: string; skillId?: string } | undefined => {
    if (Object.hasOwn(types, type)) return { name: type };
    const slash = type.lastIndexOf('/');
    const name = type.slice(0, Math.max(0, slash));
    return Object.hasOwn(types, name) ? { name, skillId: type.slice(slash + 1) } : undefined;
  };
  return {
    has: (type) => find(type) !== undefined,
    async open(type) {
      const found = find(type);
      if (!found) throw new TypeError(`There is no task type ${type}`);
      const { client: agent, isLocal } = await agents.open(found.name);
      return { agent, skillId: found.skillId, isLocal };
    },
  };
}

/**
 * The skill whose schemas apply to a task: the one that its type names, or the only one that the agent's card has
 * schemas of. Undefined if there is none.
 */
export function checkedSkill({ agent, skillId }: Target): string | undefined {
  const ids = [...skillSchemas(agent.card).keys()];
  if (skillId !== undefined) return ids.includes(skillId) ? skillId : undefined;
  return ids.length === 1 ? ids[0] : undefined;
}

/** Whether the agent has the skill that the type names. */
export const hasSkill = ({ agent, skillId }: Target): boolean =>
  skillId === undefined || (agent.card.skills ?? []).some(({ id }) => id === skillId);
