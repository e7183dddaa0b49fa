import { dataOf, textOf } from '@batonjs/client';
import type { AnswerPart, ShownToolCall } from '@batonjs/client/answers';
import { errorOf } from '@batonjs/extensions/client';
import type { Artifact, Json, Task } from '@batonjs/protocol';
import { isObject } from '@batonjs/protocol/json';
import { frontEndCalls, interruptsOf, isPlainQuestion } from './interrupts.ts';
import type { AgUiEvent, AgUiMessage, RunInput } from './run-input.ts';

type Events = Generator<AgUiEvent, void, void>;

export interface RunStart {
  readonly input: RunInput;
  /** The messages before the answer of this run. */
  readonly messages: readonly AgUiMessage[];
  /** The ids of this answer's messages begin with it. */
  readonly answerId: string;
}

/** The events of a run. Every start gets its end before the run ends. */
export function runEncoder({ input, messages, answerId }: RunStart) {
  /** The messages of this run that are complete. */
  const own: AgUiMessage[] = [];
  /** The open texts by artifact. */
  const opened = new Map<string, { readonly id: string; text: string }>();
  const uses = new Map<string, number>();
  let task: Task | undefined;
  let step: string | undefined;
  /** The state of the front end, once this run changes it. */
  let lastState: Record<string, unknown> | undefined;
  const artifacts: Record<string, unknown> = Object.create(null);
  const shown = messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id));
  const calls = new Set(shown);

  /** All messages as they are now. */
  const snapshot = (): AgUiEvent => ({ type: 'MESSAGES_SNAPSHOT', messages: [...messages, ...own] });

  /** The end of a run that cannot go on. */
  function* fail(code: string, message: string): Events {
    yield* closeAll();
    yield { type: 'RUN_ERROR', message, code };
  }

  function activity(text: string): AgUiEvent {
    const { id, status } = task ?? { id: input.runId, status: undefined };
    const content = { taskId: id, state: status?.state ?? 'TASK_STATE_WORKING', ...(text && { text }) };
    return { type: 'ACTIVITY_SNAPSHOT', messageId: `${id}-activity`, activityType: 'baton-task', content };
  }

  /** What the agent does at the moment is a step, until it does something else. */
  function* progress(text: string): Events {
    if (text === '') return;
    yield* endStep();
    step = text;
    yield { type: 'STEP_STARTED', stepName: text };
    yield activity(text);
  }

  function* endStep(): Events {
    if (step === undefined) return;
    yield { type: 'STEP_FINISHED', stepName: step };
    step = undefined;
  }

  function* text(artifactId: string, delta: string): Events {
    let open = opened.get(artifactId);
    const kind = artifactId === 'reasoning' ? 'REASONING' : 'TEXT';
    if (!open) {
      const use = (uses.get(artifactId) ?? 0) + 1;
      uses.set(artifactId, use);
      const id = `${answerId}-${artifactId}${use > 1 ? `-${use}` : ''}`;
      open = { id, text: '' };
      opened.set(artifactId, open);
      if (kind === 'REASONING') yield { type: 'REASONING_START', messageId: id };
      const role = kind === 'TEXT' ? 'assistant' : 'reasoning';
      yield { type: `${kind}_MESSAGE_START`, messageId: id, role };
    }
    open.text += delta;
    yield { type: `${kind}_MESSAGE_CONTENT`, messageId: open.id, delta };
  }

  function* close(artifactId: string): Events {
    const open = opened.get(artifactId);
    if (!open) return;
    opened.delete(artifactId);
    const { id: messageId, text } = open;
    if (artifactId === 'reasoning') {
      yield { type: 'REASONING_MESSAGE_END', messageId };
      yield { type: 'REASONING_END', messageId };
    } else {
      yield { type: 'TEXT_MESSAGE_END', messageId };
      own.push({ id: messageId, role: 'assistant', content: text });
    }
  }

  function* closeAll(): Events {
    for (const artifactId of [...opened.keys()]) yield* close(artifactId);
    yield* endStep();
  }

  /** Takes back the texts of an artifact, which begins again. */
  function forget(artifactId: string): void {
    const prefix = `${answerId}-${artifactId}`;
    const kept = own.filter(({ id }) => id !== prefix && !id.startsWith(`${prefix}-`));
    own.splice(0, own.length, ...kept);
  }

  function* textEvents(id: string, text: string): Events {
    if (text === '') return;
    yield { type: 'TEXT_MESSAGE_START', messageId: id, role: 'assistant' };
    yield { type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta: text };
    yield { type: 'TEXT_MESSAGE_END', messageId: id };
    own.push({ id, role: 'assistant', content: text });
  }

  function* tool({ toolCallId, toolName, state, input, output }: ShownToolCall): Events {
    // An agent that shows names only says nothing of the end of a call either.
    if (state === 'called' && input === undefined) return yield* progress(`Calls ${toolName}`);
    yield* call(toolCallId, toolName, input ?? {});
    if (state === 'called') return;
    const content = state === 'done' ? textOfJson(output) : state;
    const messageId = `${toolCallId}-result`;
    yield { type: 'TOOL_CALL_RESULT', messageId, toolCallId, content, role: 'tool' };
    own.push({ id: messageId, role: 'tool', toolCallId, content });
  }

  function* call(toolCallId: string, toolName: string, input: Json): Events {
    if (calls.has(toolCallId)) return;
    calls.add(toolCallId);
    // Text after the call stands below it.
    for (const artifactId of [...opened.keys()]) yield* close(artifactId);
    const args = JSON.stringify(input);
    yield { type: 'TOOL_CALL_START', toolCallId, toolCallName: toolName };
    yield { type: 'TOOL_CALL_ARGS', toolCallId, delta: args };
    yield { type: 'TOOL_CALL_END', toolCallId };
    const toolCall = {
      id: toolCallId,
      type: 'function' as const,
      function: { name: toolName, arguments: args },
    };
    own.push({ id: toolCallId, role: 'assistant', toolCalls: [toolCall] });
  }

  /** Data and files of artifacts are state of the front end, below `artifacts`. */
  function* content({ artifactId, name, parts }: Artifact): Events {
    const path = `/artifacts/${artifactId.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const value = { artifactId, ...(name && { name }), parts };
    if (!lastState) {
      const { state } = input;
      const given = isObject(state) ? state : {};
      Object.assign(artifacts, isObject(given.artifacts) ? given.artifacts : {});
      lastState = { ...given, artifacts };
      yield { type: 'STATE_SNAPSHOT', snapshot: structuredClone(lastState) };
    }
    artifacts[artifactId] = value;
    yield { type: 'STATE_DELTA', delta: [{ op: 'add', path, value }] };
  }

  function* end(task: Task | undefined): Events {
    const state = task?.status.state;
    const words = textOf(task?.status.message);
    if (task && state === 'TASK_STATE_FAILED')
      return yield* fail(errorOf(task)?.code ?? 'FAILED', words || 'The agent failed');
    if (state === 'TASK_STATE_REJECTED')
      return yield* fail('REJECTED', words || 'The agent does not do this');
    if (state === 'TASK_STATE_CANCELED') {
      if (!input.isModern) return yield* fail('CANCELED', words || 'The task was canceled');
      if (task) yield* textEvents(task.status.message?.messageId ?? task.id, words);
      return yield finished({ type: 'cancelled' });
    }
    const isPlain = task !== undefined && isPlainQuestion(task);
    if (task && !isPlain && state?.endsWith('_REQUIRED')) return yield* interrupt(task);
    const said = words || (isPlain ? 'The agent waits for an answer.' : '');
    if (task) yield* textEvents(task.status.message?.messageId ?? task.id, said);
    const result = dataOf(task?.artifacts?.find(({ artifactId, name }) => (name ?? artifactId) === 'result'));
    yield finished({ type: 'success' }, result);
  }

  function* interrupt(task: Task): Events {
    const calls = frontEndCalls(task);
    const interrupts = interruptsOf(task);
    for (const { toolCallId, toolName, input } of calls) yield* call(toolCallId, toolName, input);
    for (const { toolCallId, metadata } of interrupts) {
      const { toolName, input }: { toolName?: string; input?: Json } = Object(metadata);
      if (toolCallId !== undefined) yield* call(toolCallId, toolName ?? '', input ?? {});
    }
    // The front end runs its tools, and starts a run with their results.
    if (interrupts.length === 0) {
      const pendingToolCallIds = calls.map(({ toolCallId }) => toolCallId);
      return yield finished({ type: 'success', ...(input.isModern && { pendingToolCallIds }) });
    }
    const isTool = interrupts.some(({ toolCallId }) => toolCallId !== undefined);
    if (!isTool) yield* textEvents(interrupts[0]?.id ?? task.id, textOf(task.status.message));
    if (lastState) yield { type: 'STATE_SNAPSHOT', snapshot: lastState };
    yield snapshot();
    yield finished({ type: 'interrupt', interrupts });
  }

  function finished(outcome: object, result?: unknown): AgUiEvent {
    const { threadId, runId } = input;
    return { type: 'RUN_FINISHED', threadId, runId, outcome, ...(result !== undefined && { result }) };
  }

  return {
    start(): AgUiEvent {
      const { threadId, runId, isModern } = input;
      return { type: 'RUN_STARTED', threadId, runId, ...(isModern && { protocolVersion: '1.0' }) };
    },
    snapshot,
    *encode(part: AnswerPart): Events {
      switch (part.type) {
        case 'task':
          task = part.task;
          return yield activity('');
        case 'progress':
          return yield* progress(textOf(part.message));
        case 'tool':
          return yield* tool(part.call);
        case 'text':
          return yield* text(part.artifactId, part.delta);
        case 'replaced':
          yield* close(part.artifactId);
          forget(part.artifactId);
          yield snapshot();
          return yield* text(part.artifactId, part.text);
        case 'content':
          return yield* content(part.artifact);
        case 'end':
          yield* closeAll();
          if (part.message) yield* textEvents(part.message.messageId, textOf(part.message));
          yield* end(part.task);
      }
    },
    fail,
  };
}

const textOfJson = (value: Json | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null);
