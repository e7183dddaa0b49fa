import type { Artifact, Message, TaskStatus } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { messageOf } from '../facts/conversation.ts';
import { FACT_FORMAT, type Fact, type Metadata } from '../facts/facts.ts';
import { eachOnce, hasLabels, labelProblem } from '../facts/labels.ts';
import type { Question } from '../facts/question-link.ts';
import { canTransition, isTerminal } from '../facts/states.ts';
import type { ChildUpdate, TaskUpdate } from '../facts/task-update.ts';
import { isAnswer, reservedFor, type State, type TaskRecord } from '../state/state.ts';
import { generationOf } from '../state/view.ts';
import { freezeMembers } from '../values/frozen-json.ts';
import type { Command, Happening } from './command.ts';
import { changeMemory, keepLines, openCallback, receiveCallback } from './decide-agent-record.ts';
import { completeStep, endTurn, failStep, failTurn, startTurn, take, turnOf } from './decide-turn.ts';

/**
 * The facts that a command causes. Pure: `now` is the time (ISO 8601, UTC, milliseconds). If it is before the latest fact,
 * the time of that fact counts. The facts are plain JSON and share nothing with the command, so that an agent that changes
 * its objects later changes no state. Throws an `A2AError` for a command that is not allowed.
 */
export function decide(state: State | undefined, command: Command, now: string): Fact[] {
  const at = state && state.at > now ? state.at : now;
  const facts: Fact[] = [];
  for (const fact of happen(state, command, at))
    facts.push(asStored({ format: FACT_FORMAT, at, ...fact } as Fact));
  return facts;
}

function happen(state: State | undefined, command: Command, at: string): Happening[] {
  if (command.type === 'receive') return receive(state, command);
  if (!state) throw new A2AError('TASK_NOT_FOUND');
  switch (command.type) {
    case 'create':
      if (state.task || state.closed) return [];
      return [{ type: 'task-created', taskId: command.taskId, contextId: state.contextId }];
    case 'start-turn':
      return startTurn(open(state), command, at);
    case 'take':
      return take(state, command.messageId);
    case 'update':
      return update(open(state), command.update, at);
    case 'answer':
      return answer(open(state), command.message, at);
    case 'complete-step':
      return completeStep(state, command);
    case 'fail-step':
      return failStep(state, command);
    case 'fail-turn':
      return failTurn(state, command);
    case 'pause-turn':
      return [{ type: 'turn-paused', turn: turnOf(state).number, until: command.until }];
    case 'change-memory':
      return changeMemory(open(state), command.memory);
    case 'log':
      return keepLines(open(state), command);
    case 'open-callback': {
      const { type: _, ...opened } = command;
      // A link may be asked for while the question waits, and no turn runs.
      return openCallback(state, { ...opened, turn: opened.answers ? state.turns : turnOf(state).number });
    }
    case 'receive-callback':
      return receiveCallback(state, command.id, command.value, at);
    case 'set-wake': {
      const { time, immediateWakes } = command;
      const { number: turn } = turnOf(state);
      return [
        {
          type: 'wake-set',
          turn,
          ...(time !== undefined && { time }),
          ...(immediateWakes && { immediateWakes }),
        },
      ];
    }
    case 'end-turn':
      return endTurn(state);
    case 'wake':
      if (state.closed) throw new A2AError('UNSUPPORTED_OPERATION', 'The task is finished');
      return [{ type: 'woken', ...(command.metadata && { metadata: command.metadata }) }];
    case 'request-cancel':
      return requestCancel(state, command.metadata);
  }
}

function receive(
  state: State | undefined,
  { type: _, ...received }: Command & { type: 'receive' },
): Happening[] {
  const { message } = received;
  if (!state) return [{ type: 'message-received', ...received }];
  if (!state.task) throw new A2AError('TASK_NOT_FOUND');
  if (message.contextId && message.contextId !== state.contextId) {
    throw new A2AError('INVALID_PARAMS', `Task ${state.task.id} belongs to another context`, {
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.BadRequest',
          fieldViolations: [
            { field: 'message.contextId', description: 'does not match the context of the task' },
          ],
        },
      ],
    });
  }
  const known = messageOf(state.conversation, message.messageId);
  if (known?.role === 'ROLE_AGENT') throw new A2AError('MESSAGE_ID_CONFLICT');
  if (known) return [];
  if (state.closed) {
    throw new A2AError(
      'UNSUPPORTED_OPERATION',
      `Task ${state.task.id} is finished (${state.task.status.state})`,
    );
  }
  const onlyBy = reservedFor(state);
  if (onlyBy !== undefined && !isAnswer(state, onlyBy, received))
    throw new A2AError('UNSUPPORTED_OPERATION', 'Only a person with an answer link may answer this question');
  if (received.ifGeneration !== undefined) checkGeneration(state, state.task.id, received.ifGeneration);
  const owned = { ...message, taskId: state.task.id, contextId: state.contextId };
  return [{ type: 'message-received', ...received, message: owned }];
}

/** Throws for a task that is at another generation. A message that is accepted changes it. */
function checkGeneration(state: State, taskId: string, expected: number): void {
  const generation = generationOf(state);
  if (generation === expected) return;
  throw new A2AError('TASK_GENERATION_MISMATCH', undefined, {
    metadata: { taskId, expectedGeneration: String(expected), currentGeneration: String(generation) },
  });
}

/** An artifact of another agent, handed on, is not at those places of this task. */
function withoutGenerations(artifact: Artifact): Artifact {
  const { startGeneration, endGeneration, ...own } = artifact;
  return (startGeneration ?? endGeneration) === undefined ? artifact : own;
}

function update(state: State, asked: TaskUpdate, at: string): Happening[] {
  const task = taskOf(state);
  const metadata = asked.metadata && { metadata: asked.metadata };
  if ('artifact' in asked) {
    const { artifact, append = false, lastChunk = false } = asked;
    mustBeWhole('artifact', artifact.artifactId, artifact.parts);
    if (append && !task.artifacts.some(({ about }) => about.artifactId === artifact.artifactId)) {
      throw new A2AError(
        'INVALID_AGENT_RESPONSE',
        `There is no artifact "${artifact.artifactId}" to append to`,
      );
    }
    const own = withoutGenerations(artifact);
    const updated: Happening = { type: 'artifact-updated', artifact: own, append, lastChunk, ...metadata };
    return withUnseen(state, asked, [updated]);
  }
  if (!('status' in asked)) {
    asked satisfies { child: ChildUpdate } | { labels: readonly string[] };
    return withUnseen(state, asked, []);
  }
  const { state: to } = asked.status;
  if (!canTransition(task.status.state, to))
    throw new A2AError('INVALID_AGENT_RESPONSE', `A task cannot go from ${task.status.state} to ${to}`);
  const status = statusOf(state, asked.status, at);
  const changed: Happening = { type: 'status-changed', status, ...metadata, ...questionIn(asked) };
  // Nothing follows the fact that closes a log, so the turn ends before it.
  const changes = isTerminal(to) ? [...endTurn(state), changed] : [changed];
  return withUnseen(state, asked, changes);
}

const questionIn = ({ form, onlyBy }: Question): { question: Question } | undefined =>
  form || onlyBy ? { question: { ...(form && { form }), ...(onlyBy && { onlyBy }) } } : undefined;

/** What an update records besides what clients see, before that: nothing follows the fact that closes a log. */
function withUnseen(state: State, { memory, child, labels }: TaskUpdate, shown: Happening[]): Happening[] {
  if (child !== undefined) shown.unshift(childUpdated(child));
  if (labels !== undefined) shown.unshift(...setLabels(state, labels));
  if (memory !== undefined) shown.unshift(...changeMemory(state, memory));
  return shown;
}

/** The labels of the agent, in place of its own before: those with which the task began stay. */
function setLabels({ labels: known, givenLabels = [] }: State, own: readonly string[]): Happening[] {
  const labels = eachOnce([...givenLabels, ...own]);
  const problem = labelProblem(labels);
  if (problem) throw new A2AError('INVALID_AGENT_RESPONSE', problem);
  return hasLabels(known, labels) ? [] : [{ type: 'labels-set', labels }];
}

const childUpdated = ({ name, ...child }: ChildUpdate): Happening => ({ type: 'child-updated', name, child });

function answer(state: State, message: Message, at: string): Happening[] {
  const { taskId: _, ...bare } = message;
  const owned: Message = { ...spoken(state, bare), contextId: state.contextId };
  if (!state.task) return [...endTurn(state), { type: 'answered', message: owned }];
  if (state.turns > 1)
    throw new A2AError('INVALID_AGENT_RESPONSE', 'A message to a task is answered with updates of the task');
  return update(state, { status: { state: 'TASK_STATE_COMPLETED', message: owned } }, at);
}

function requestCancel({ task, closed, cancelRequested }: State, metadata?: Metadata): Happening[] {
  if (!task) throw new A2AError('TASK_NOT_FOUND');
  if (task.status.state === 'TASK_STATE_CANCELED' || (cancelRequested && !closed)) return [];
  if (closed) throw new A2AError('TASK_NOT_CANCELABLE', `Task ${task.id} is finished (${task.status.state})`);
  return [{ type: 'cancel-requested', ...(metadata && { metadata }) }];
}

function statusOf(
  state: State,
  { state: to, message }: Omit<TaskStatus, 'timestamp'>,
  at: string,
): TaskStatus {
  const task = taskOf(state);
  const owned = message && { ...spoken(state, message), taskId: task.id, contextId: state.contextId };
  return { state: to, ...(owned && { message: owned }), timestamp: at };
}

/** The message as one of the agent. A turn that runs again may use the id of a message that it sent before. */
function spoken(state: State, message: Message): Message {
  mustBeWhole('message', message.messageId, message.parts);
  const known = messageOf(state.conversation, message.messageId);
  if (known && known.role !== 'ROLE_AGENT') {
    throw new A2AError(
      'INVALID_AGENT_RESPONSE',
      `The id "${message.messageId}" is that of a client's message`,
    );
  }
  return { ...message, role: 'ROLE_AGENT' };
}

/** Checks the members without which a message or an artifact cannot be folded. A schema checks the parts. */
function mustBeWhole(what: string, id: unknown, parts: unknown): void {
  if (typeof id === 'string' && id !== '' && Array.isArray(parts) && parts.length > 0) return;
  throw new A2AError('INVALID_AGENT_RESPONSE', `Every ${what} needs its ${what}Id and at least one part`);
}

function asStored(fact: Fact): Fact {
  try {
    return freezeMembers(fact);
  } catch (cause) {
    throw new A2AError('INVALID_AGENT_RESPONSE', 'What the agent put out is not JSON', { cause });
  }
}

function open(state: State): State {
  if (state.closed) throw new A2AError('INVALID_AGENT_RESPONSE', 'The task is finished');
  return state;
}

function taskOf({ task }: State): TaskRecord {
  if (!task) throw new A2AError('INVALID_AGENT_RESPONSE', 'There is no task to update');
  return task;
}
