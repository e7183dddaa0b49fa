import { dataOf, textOf } from '@batonjs/client';
import type { AnswerPart, ShownToolCall } from '@batonjs/client/answers';
import { errorOf } from '@batonjs/extensions/client';
import type { Artifact, Json, Task } from '@batonjs/protocol';
import { isObject } from '@batonjs/protocol/json';
import { frontEndCalls, interruptsOf, isPlainQuestion } from './interrupts.ts';
import type { AgUiEvent, AgUiMessage, RunInput } from './run-input.ts';

type Events = Generator<AgUiEvent, void, void>;

/** The beginning of a run. */
export interface RunStart {
  readonly input: RunInput;
  /** The messages before the answer of this run. */
  readonly messages: readonly AgUiMessage[];
  /** The ids of this answer's messages begin with it. */
  readonly answerId: string;
}

/** The events of a run. Every start gets its end before the run ends. */
export class RunEncoder {
  readonly #input: RunInput;
  readonly #before: readonly AgUiMessage[];
  readonly #answerId: string;
  readonly #calls: Set<string>;
  /** The messages of this run that are complete. */
  readonly #own: AgUiMessage[] = [];
  /** The open texts by artifact. */
  readonly #open = new Map<string, { readonly id: string; text: string }>();
  readonly #uses = new Map<string, number>();
  #task: Task | undefined;
  #step: string | undefined;
  /** The state of the front end, once this run changes it. */
  #state: Record<string, unknown> | undefined;
  readonly #artifacts: Record<string, unknown> = Object.create(null);

  constructor({ input, messages, answerId }: RunStart) {
    this.#input = input;
    this.#before = messages;
    this.#answerId = answerId;
    const shown = messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id));
    this.#calls = new Set(shown);
  }

  start(): AgUiEvent {
    const { threadId, runId, isModern } = this.#input;
    return { type: 'RUN_STARTED', threadId, runId, ...(isModern && { protocolVersion: '1.0' }) };
  }

  /** All messages as they are now. */
  snapshot(): AgUiEvent {
    return { type: 'MESSAGES_SNAPSHOT', messages: [...this.#before, ...this.#own] };
  }

  *encode(part: AnswerPart): Events {
    switch (part.type) {
      case 'task':
        this.#task = part.task;
        return yield this.#activity('');
      case 'progress':
        return yield* this.#progress(textOf(part.message));
      case 'tool':
        return yield* this.#tool(part.call);
      case 'text':
        return yield* this.#text(part.artifactId, part.delta);
      case 'replaced':
        yield* this.#close(part.artifactId);
        this.#forget(part.artifactId);
        yield this.snapshot();
        return yield* this.#text(part.artifactId, part.text);
      case 'content':
        return yield* this.#content(part.artifact);
      case 'end':
        yield* this.#closeAll();
        if (part.message) yield* this.#words(part.message.messageId, textOf(part.message));
        yield* this.#end(part.task);
    }
  }

  /** The end of a run that cannot go on. */
  *fail(code: string, message: string): Events {
    yield* this.#closeAll();
    yield { type: 'RUN_ERROR', message, code };
  }

  #activity(text: string): AgUiEvent {
    const { id, status } = this.#task ?? { id: this.#input.runId, status: undefined };
    const content = { taskId: id, state: status?.state ?? 'TASK_STATE_WORKING', ...(text && { text }) };
    return { type: 'ACTIVITY_SNAPSHOT', messageId: `${id}-activity`, activityType: 'baton-task', content };
  }

  /** What the agent does at the moment is a step, until it does something else. */
  *#progress(text: string): Events {
    if (text === '') return;
    yield* this.#endStep();
    this.#step = text;
    yield { type: 'STEP_STARTED', stepName: text };
    yield this.#activity(text);
  }

  *#endStep(): Events {
    if (this.#step === undefined) return;
    yield { type: 'STEP_FINISHED', stepName: this.#step };
    this.#step = undefined;
  }

  *#text(artifactId: string, delta: string): Events {
    let open = this.#open.get(artifactId);
    const kind = artifactId === 'reasoning' ? 'REASONING' : 'TEXT';
    if (!open) {
      const use = (this.#uses.get(artifactId) ?? 0) + 1;
      this.#uses.set(artifactId, use);
      const id = `${this.#answerId}-${artifactId}${use > 1 ? `-${use}` : ''}`;
      open = { id, text: '' };
      this.#open.set(artifactId, open);
      if (kind === 'REASONING') yield { type: 'REASONING_START', messageId: id };
      const role = kind === 'TEXT' ? 'assistant' : 'reasoning';
      yield { type: `${kind}_MESSAGE_START`, messageId: id, role };
    }
    open.text += delta;
    yield { type: `${kind}_MESSAGE_CONTENT`, messageId: open.id, delta };
  }

  *#close(artifactId: string): Events {
    const open = this.#open.get(artifactId);
    if (!open) return;
    this.#open.delete(artifactId);
    const { id: messageId, text } = open;
    if (artifactId === 'reasoning') {
      yield { type: 'REASONING_MESSAGE_END', messageId };
      yield { type: 'REASONING_END', messageId };
    } else {
      yield { type: 'TEXT_MESSAGE_END', messageId };
      this.#own.push({ id: messageId, role: 'assistant', content: text });
    }
  }

  *#closeAll(): Events {
    for (const artifactId of [...this.#open.keys()]) yield* this.#close(artifactId);
    yield* this.#endStep();
  }

  /** Takes back the texts of an artifact, which begins again. */
  #forget(artifactId: string): void {
    const prefix = `${this.#answerId}-${artifactId}`;
    const kept = this.#own.filter(({ id }) => id !== prefix && !id.startsWith(`${prefix}-`));
    this.#own.splice(0, this.#own.length, ...kept);
  }

  *#words(id: string, text: string): Events {
    if (text === '') return;
    yield { type: 'TEXT_MESSAGE_START', messageId: id, role: 'assistant' };
    yield { type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta: text };
    yield { type: 'TEXT_MESSAGE_END', messageId: id };
    this.#own.push({ id, role: 'assistant', content: text });
  }

  *#tool({ toolCallId, toolName, state, input, output }: ShownToolCall): Events {
    // An agent that shows names only says nothing of the end of a call either.
    if (state === 'called' && input === undefined) return yield* this.#progress(`Calls ${toolName}`);
    yield* this.#call(toolCallId, toolName, input ?? {});
    if (state === 'called') return;
    const content = state === 'done' ? textOfJson(output) : state;
    const messageId = `${toolCallId}-result`;
    yield { type: 'TOOL_CALL_RESULT', messageId, toolCallId, content, role: 'tool' };
    this.#own.push({ id: messageId, role: 'tool', toolCallId, content });
  }

  *#call(toolCallId: string, toolName: string, input: Json): Events {
    if (this.#calls.has(toolCallId)) return;
    this.#calls.add(toolCallId);
    // Text after the call stands below it.
    for (const artifactId of [...this.#open.keys()]) yield* this.#close(artifactId);
    const args = JSON.stringify(input);
    yield { type: 'TOOL_CALL_START', toolCallId, toolCallName: toolName };
    yield { type: 'TOOL_CALL_ARGS', toolCallId, delta: args };
    yield { type: 'TOOL_CALL_END', toolCallId };
    const toolCall = {
      id: toolCallId,
      type: 'function' as const,
      function: { name: toolName, arguments: args },
    };
    this.#own.push({ id: toolCallId, role: 'assistant', toolCalls: [toolCall] });
  }

  /** Data and files of artifacts are state of the front end, below `artifacts`. */
  *#content({ artifactId, name, parts }: Artifact): Events {
    const path = `/artifacts/${artifactId.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const value = { artifactId, ...(name && { name }), parts };
    if (!this.#state) {
      const { state } = this.#input;
      const given = isObject(state) ? state : {};
      Object.assign(this.#artifacts, isObject(given.artifacts) ? given.artifacts : {});
      this.#state = { ...given, artifacts: this.#artifacts };
      yield { type: 'STATE_SNAPSHOT', snapshot: structuredClone(this.#state) };
    }
    this.#artifacts[artifactId] = value;
    yield { type: 'STATE_DELTA', delta: [{ op: 'add', path, value }] };
  }

  *#end(task: Task | undefined): Events {
    const state = task?.status.state;
    const words = textOf(task?.status.message);
    if (task && state === 'TASK_STATE_FAILED')
      return yield* this.fail(errorOf(task)?.code ?? 'FAILED', words || 'The agent failed');
    if (state === 'TASK_STATE_REJECTED')
      return yield* this.fail('REJECTED', words || 'The agent does not do this');
    if (state === 'TASK_STATE_CANCELED') {
      if (!this.#input.isModern) return yield* this.fail('CANCELED', words || 'The task was canceled');
      if (task) yield* this.#words(task.status.message?.messageId ?? task.id, words);
      return yield this.#finished({ type: 'cancelled' });
    }
    const isPlain = task !== undefined && isPlainQuestion(task);
    if (task && !isPlain && state?.endsWith('_REQUIRED')) return yield* this.#interrupt(task);
    const said = words || (isPlain ? 'The agent waits for an answer.' : '');
    if (task) yield* this.#words(task.status.message?.messageId ?? task.id, said);
    const result = dataOf(task?.artifacts?.find(({ artifactId, name }) => (name ?? artifactId) === 'result'));
    yield this.#finished({ type: 'success' }, result);
  }

  *#interrupt(task: Task): Events {
    const calls = frontEndCalls(task);
    const interrupts = interruptsOf(task);
    for (const { toolCallId, toolName, input } of calls) yield* this.#call(toolCallId, toolName, input);
    for (const { toolCallId, metadata } of interrupts) {
      const { toolName, input }: { toolName?: string; input?: Json } = Object(metadata);
      if (toolCallId !== undefined) yield* this.#call(toolCallId, toolName ?? '', input ?? {});
    }
    // The front end runs its tools, and starts a run with their results.
    if (interrupts.length === 0) {
      const pendingToolCallIds = calls.map(({ toolCallId }) => toolCallId);
      return yield this.#finished({ type: 'success', ...(this.#input.isModern && { pendingToolCallIds }) });
    }
    const isTool = interrupts.some(({ toolCallId }) => toolCallId !== undefined);
    if (!isTool) yield* this.#words(interrupts[0]?.id ?? task.id, textOf(task.status.message));
    if (this.#state) yield { type: 'STATE_SNAPSHOT', snapshot: this.#state };
    yield this.snapshot();
    yield this.#finished({ type: 'interrupt', interrupts });
  }

  #finished(outcome: object, result?: unknown): AgUiEvent {
    const { threadId, runId } = this.#input;
    return { type: 'RUN_FINISHED', threadId, runId, outcome, ...(result !== undefined && { result }) };
  }
}

const textOfJson = (value: Json | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null);
