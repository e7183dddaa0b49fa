import type { AgentClient } from '@batonjs/client';
import { taskTree } from '@batonjs/extensions';
import type { ChildUpdate } from '@batonjs/lifecycle';
import {
  type Agent,
  type AgentServerOptions,
  type Answer,
  type CardInput,
  isTaskAgent,
  type Logger,
  type Turn,
  taskAgent,
} from '@batonjs/server';
import type { AddressPolicyOptions } from '@batonjs/server/address-policy';
import { Agents, type Callee, connectWithin } from './agents/agents.ts';
import type { CallingAgent, CallingTurn } from './call.ts';
import { cancelChildren } from './children/cancel-children.ts';
import { mergedUpdates } from './turn/merged-updates.ts';
import { TurnCalls } from './turn/turn-calls.ts';

/** What `nestedTasks` takes. Times in milliseconds. */
export interface NestedTasksOptions {
  readonly card: CardInput;
  readonly agent: CallingAgent;
  /**
   * Agents that calls may name instead of giving a URL. An agent in this process, and a client with credentials of its
   * own, must be here: a process that did not call it itself finds it to cancel children there.
   */
  readonly agents?: Readonly<Record<string, Callee>> | undefined;
  /** Connects to an agent by its URL, for other bindings, credentials and timeouts. Default: `connect` of the client. */
  readonly connect?: ((url: string) => Promise<AgentClient>) | undefined;
  /**
   * Which addresses the card of an agent may lead to outside of the origin of its URL, unless `connect` is given. Default:
   * public ones. `{ allow: ['10.0.0.0/8'] }` adds those of a network.
   */
  readonly addresses?: AddressPolicyOptions | undefined;
  /** How many tasks may be nested below the first one. Default 8. */
  readonly depth?: number | undefined;
  /** How many children a task may start. Default 100. */
  readonly calls?: number | undefined;
  /** How long an agent may be out of reach before a call to it fails. Default 60,000. */
  readonly unreachableMs?: number | undefined;
  /** How long the agents of children may take to cancel them. Keep it below `timeouts.cancelGraceMs`. Default 4,000. */
  readonly cancelMs?: number | undefined;
  /** As in `AgentServerOptions`, after the children were canceled. */
  readonly onCancel?: AgentServerOptions['onCancel'] | undefined;
  /** Sees what clients are not shown: children that could not be canceled. Default: nothing is logged. */
  readonly logger?: Logger | undefined;
}

/** Options for `createAgentServer` and `createWorker`. */
export interface NestedTasks {
  readonly card: CardInput;
  readonly agent: Agent;
  readonly onCancel: (turn: Turn) => Promise<readonly ChildUpdate[]>;
  readonly restart: 'rerun';
}

/**
 * Gives an agent `turn.call`, which starts tasks at other agents, each once, and cancels them with their parent. Declares
 * the extension that shows the tree. `createAgentServer` takes the result, with a store.
 *
 * ```ts
 * const planner = nestedTasks({
 *   card: { name: 'Planner', description: 'Books hotels' },
 *   async *agent(turn) {
 *     const { task } = await turn.call('https://hotels.example.com', turn.text, { name: 'hotel' });
 *     yield task?.status.state === 'TASK_STATE_COMPLETED' ? completed('Booked') : failed('No hotel');
 *   },
 * });
 * ```
 */
export function nestedTasks(options: NestedTasksOptions): NestedTasks {
  const { agent, card, agents = {}, connect, addresses, cancelMs = 4_000, logger = () => {} } = options;
  const { depth = 8, calls = 100, unreachableMs = 60_000 } = options;
  const reachable = new Agents({ agents, connect: connect ?? connectWithin(addresses) });
  const settings = { agents: reachable, limits: { depth, calls, unreachableMs }, cancelMs, logger };
  const begin = (turn: Turn) => {
    const calls = new TurnCalls(turn, settings);
    const calling: CallingTurn = Object.create(turn, { call: { value: calls.call, enumerable: true } });
    return { calls, calling };
  };
  const updates = (turn: Turn) => {
    const { calls, calling } = begin(turn);
    return mergedUpdates(start(agent, calling), calls, turn.signal);
  };
  const answer = async (turn: Turn): Promise<Answer> => {
    const { calls, calling } = begin(turn);
    const answering = start(agent, calling);
    const called = new Promise<undefined>((resolve) => calls.updates.onPush(() => resolve(undefined)));
    const first = await Promise.race([answering, called]).catch(() => undefined);
    if (first && !(Symbol.asyncIterator in first)) return first;
    return mergedUpdates(first ?? answering, calls, turn.signal);
  };
  return {
    card: taskTree({ card, agent: agent as Agent }).card,
    agent: isTaskAgent(agent as Agent) ? taskAgent(updates) : answer,
    async onCancel(turn) {
      const canceled = await cancelChildren(turn.children, settings);
      return [...canceled, ...((await options.onCancel?.(turn)) || [])];
    },
    restart: 'rerun',
  };
}

const start = (agent: CallingAgent, turn: CallingTurn): Promise<Answer> =>
  new Promise((resolve) => resolve(agent(turn)));
