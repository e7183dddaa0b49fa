import type { AgentClient } from '@batonjs/client';
import { FORM_INPUT, TASK_ERROR, TASK_PROGRESS, TYPED_SKILLS } from '@batonjs/extensions/client';
import { type NestedTasks, nestedTasks } from '@batonjs/nested-tasks';
import type { AgentCard, Task } from '@batonjs/protocol';
import { type CardInput, completed, type Logger, type TaskUpdate } from '@batonjs/server';

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
export function bridgeAgent(
  target: AgentClient,
  { unreachableMs, resend, logger }: BridgeOptions,
): NestedTasks {
  return nestedTasks({
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
}

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
