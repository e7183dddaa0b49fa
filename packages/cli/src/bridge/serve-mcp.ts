import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type AgentClient, connect } from '@batonjs/client';
import { FORM_INPUT, TASK_ERROR, TASK_PROGRESS, TYPED_SKILLS } from '@batonjs/extensions/client';
import { mcpHandler } from '@batonjs/mcp';
import { listenMcp, serveMcpStdio } from '@batonjs/mcp/node';
import { type NestedTasks, nestedTasks } from '@batonjs/nested-tasks';
import { shareQueue } from '@batonjs/operator';
import type { AgentCard, Task } from '@batonjs/protocol';
import { type CardInput, completed, createAgentServer, type Logger, type TaskUpdate } from '@batonjs/server';
import { sqliteStore } from '@batonjs/store-sqlite';

/** What the bridge is told. Times in milliseconds. */
export interface McpBridgeOptions extends BridgeOptions {
  /** The file that keeps the tasks. */
  readonly data: string;
  readonly waitMs: number;
  readonly pollIntervalMs: number;
  readonly retentionMs: number;
  readonly modelApproves: boolean;
  /** Undefined serves standard input and output. */
  readonly http:
    | { readonly port: number; readonly host: string; readonly allowedHosts: readonly string[] }
    | undefined;
  readonly onError: (error: unknown) => void;
}

/** A bridge that serves until it is closed. */
export interface McpBridge {
  /** Undefined over standard input and output. */
  readonly url?: string;
  /** Ends it. Tasks of the agent go on, and the next bridge on the same file follows them. */
  close(): Promise<void>;
}

/** A dead bridge is noticed after so long, in milliseconds. */
const leaseMs = 3_000;

/** Serves an agent over MCP, with a task of its own for each of the agent's: its handles outlive this process. */
export async function serveMcp(target: AgentClient, options: McpBridgeOptions): Promise<McpBridge> {
  const { data, waitMs, modelApproves, pollIntervalMs, retentionMs, http, logger, onError } = options;
  mkdirSync(dirname(data), { recursive: true, mode: 0o700 });
  const agent = bridgeAgent(target, options);
  const store = sqliteStore(data);
  // The tasks are those of this file, whatever the card of the agent says today.
  await shareQueue(store, 'agent', agent.card.name);
  const server = createAgentServer({
    ...agent,
    store,
    // Each start of the bridge may cost an attempt.
    restart: { maxAttempts: 1_000 },
    timeouts: { leaseMs },
    retention: { closedAfterMs: retentionMs },
    logger,
  });
  const connected = await connect('http://localhost', { fetch: server.fetch });
  const mcp = { waitMs, modelApproves, tasks: { pollIntervalMs, retentionMs }, onError };
  try {
    const listening =
      http &&
      (await listenMcp(
        mcpHandler(() => ({ caller: 'anyone', agent: connected }), mcp),
        http,
      ));
    const served = listening ?? serveMcpStdio(connected, mcp);
    return {
      ...(listening && { url: listening.url }),
      async close() {
        await served.close();
        await server.close({ graceMs: 0 });
      },
    };
  } catch (error) {
    await server.close({ graceMs: 0 });
    throw error;
  }
}

/** Extensions of the agent that work through the bridge. */
const passedOn: readonly string[] = [FORM_INPUT, TASK_ERROR, TASK_PROGRESS, TYPED_SKILLS];

/** Options of `bridgeAgent`. Times in milliseconds. */
export interface BridgeOptions {
  /** How long the agent may be out of reach before a task fails. */
  readonly unreachableMs: number;
  /** Whether a message may be sent again of which it is not known whether the agent received it. */
  readonly resend: boolean;
  readonly logger: Logger;
}

/**
 * An agent that has another one do its work: each of its tasks is one there, which is started once and followed from
 * wherever it was. So a task exists before the other agent has answered, also for an agent that knows no tasks.
 */
export const bridgeAgent = (
  target: AgentClient,
  { unreachableMs, resend, logger }: BridgeOptions,
): NestedTasks =>
  nestedTasks({
    card: cardOf(target.card),
    agents: { agent: target },
    unreachableMs,
    logger,
    async *agent(turn) {
      const { parts, extensions } = turn.messages[0] ?? turn.message;
      const skill = turn.metadata[TYPED_SKILLS];
      const { task, message } = await turn.call(
        'agent',
        { parts, extensions },
        {
          name: 'call',
          resend,
          extensions: [TYPED_SKILLS],
          metadata: skill === undefined ? undefined : { [TYPED_SKILLS]: skill },
        },
      );
      if (!task) return yield completed(message?.parts ?? []);
      // Whole, however much of them a crash has cost: the same id replaces an artifact.
      for (const artifact of task.artifacts ?? []) yield { artifact };
      yield endOf(task, turn.taskId);
    },
  });

/** The card of the agent, as far as it is true of the bridge. */
function cardOf({ name, description, version, skills, capabilities, ...card }: AgentCard): CardInput {
  const extensions = (capabilities?.extensions ?? []).filter(({ uri }) => passedOn.includes(uri));
  return {
    name,
    // An agent that is called without a card has none.
    description: description || name,
    ...(version && { version }),
    // Who may use a skill is between the agent and its client.
    skills: (skills ?? []).map(({ securityRequirements: _, ...skill }) => skill),
    ...(card.defaultInputModes && { defaultInputModes: card.defaultInputModes }),
    ...(card.defaultOutputModes && { defaultOutputModes: card.defaultOutputModes }),
    capabilities: { extensions: extensions.map(({ required: _, ...extension }) => extension) },
  };
}

/** The end of the other task as that of this one, with what it said. */
function endOf({ status: { state, message } }: Task, taskId: string): TaskUpdate {
  if (!message) return { status: { state } };
  const { parts, extensions, metadata } = message;
  const said = { messageId: `end-${taskId}`, role: 'ROLE_AGENT' as const, parts };
  return {
    status: { state, message: { ...said, ...(extensions && { extensions }), ...(metadata && { metadata }) } },
  };
}
