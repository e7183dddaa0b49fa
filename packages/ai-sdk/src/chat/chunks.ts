import { isTerminal, textOf } from '@batonjs/client';
import { type AnswerPart, awaitedCalls, type ShownToolCall } from '@batonjs/client/answers';
import { errorOf, formOf } from '@batonjs/extensions/client';
import type { Part, Task } from '@batonjs/protocol';
import type { UIMessageChunk } from 'ai';

/** The artifact in which agents on models show their reasoning. */
const REASONING = 'reasoning';

/**
 * The chunks of the UI message stream protocol for an answer. The task is a part `data-task`, a question with a form
 * `data-question`, data of artifacts `data-artifact`. Always ends with `finish`, `abort` or `error`. An answer that goes on
 * in a message gives no call again that the message shows.
 */
export async function* chunksOf(
  parts: AsyncIterable<AnswerPart>,
  messageId: string,
  shownCalls: readonly string[] = [],
): AsyncGenerator<UIMessageChunk, void, void> {
  const encoder = new ChunkEncoder(shownCalls);
  yield { type: 'start', messageId };
  yield { type: 'start-step' };
  for await (const part of parts) yield* encoder.encode(part);
}

const hasFailed = (task: Task): boolean => isTerminal(task) && task.status.state !== 'TASK_STATE_COMPLETED';

/** What a page shows of a task in a part `data-task`. */
const taskData = (task: Task, doing: string) => ({
  id: task.id,
  ...(task.contextId && { contextId: task.contextId }),
  state: task.status.state,
  ...(doing && { text: doing }),
});

class ChunkEncoder {
  /** The open texts by artifact, with the ids of their parts. */
  readonly #open = new Map<string, string>();
  /** The tool calls that the page shows. */
  readonly #calls: Set<string>;
  /** The text that the page shows of each artifact, in its last part. */
  readonly #shown = new Map<string, string>();
  /** The new texts of artifacts that began again, while they are only what the page shows already. */
  readonly #again = new Map<string, string>();
  #replaced = 0;
  #task: Task | undefined;

  constructor(shownCalls: readonly string[]) {
    this.#calls = new Set(shownCalls);
  }

  *encode(part: AnswerPart): Generator<UIMessageChunk, void, void> {
    switch (part.type) {
      case 'task':
        this.#task = part.task;
        // The words of one that completes, or asks, are text.
        return yield this.#taskChunk(hasFailed(part.task) ? textOf(part.task.status.message) : '');
      case 'progress':
        return yield this.#taskChunk(textOf(part.message));
      case 'tool':
        return yield* this.#tool(part.call);
      case 'text':
        return yield* this.#text(part.artifactId, part.delta);
      case 'replaced':
        this.#again.set(part.artifactId, '');
        return yield* this.#text(part.artifactId, part.text);
      case 'content':
        return yield contentChunk(part.artifact, part.part);
      case 'end':
        for (const [artifactId, text] of this.#again)
          if (text !== this.#shown.get(artifactId)) yield* this.#below(artifactId, text);
        for (const artifactId of [...this.#open.keys()]) yield* this.#close(artifactId);
        if (part.message) yield* textChunks(part.message.messageId, textOf(part.message));
        yield* this.#end(part.task);
    }
  }

  #taskChunk(doing: string): UIMessageChunk {
    const task = this.#task as Task;
    return { type: 'data-task', id: task.id, data: taskData(task, doing) };
  }

  /** A turn that is run again mostly says the same: the page gets what it does not show yet. */
  *#text(artifactId: string, delta: string): Generator<UIMessageChunk, void, void> {
    const again = this.#again.get(artifactId);
    if (again === undefined) return yield* this.#more(artifactId, delta);
    const text = again + delta;
    const shown = this.#shown.get(artifactId) ?? '';
    if (shown.startsWith(text)) return void this.#again.set(artifactId, text);
    if (!text.startsWith(shown)) return yield* this.#below(artifactId, text);
    this.#again.delete(artifactId);
    yield* this.#more(artifactId, text.slice(shown.length));
  }

  /** What was shown stays: a text cannot be taken back, and another one stands below it. */
  *#below(artifactId: string, text: string): Generator<UIMessageChunk, void, void> {
    yield* this.#close(artifactId);
    this.#again.delete(artifactId);
    this.#shown.delete(artifactId);
    this.#replaced += 1;
    yield* this.#more(artifactId, text);
  }

  *#more(artifactId: string, delta: string): Generator<UIMessageChunk, void, void> {
    this.#shown.set(artifactId, (this.#shown.get(artifactId) ?? '') + delta);
    const kind = artifactId === REASONING ? 'reasoning' : 'text';
    const known = this.#open.get(artifactId);
    const id = known ?? (this.#replaced > 0 ? `${artifactId}-${this.#replaced}` : artifactId);
    if (known === undefined) {
      this.#open.set(artifactId, id);
      yield { type: `${kind}-start`, id };
    }
    yield { type: `${kind}-delta`, id, delta };
  }

  *#close(artifactId: string): Generator<UIMessageChunk, void, void> {
    const id = this.#open.get(artifactId);
    if (id === undefined) return;
    this.#open.delete(artifactId);
    yield { type: artifactId === REASONING ? 'reasoning-end' : 'text-end', id };
  }

  *#tool(call: ShownToolCall): Generator<UIMessageChunk, void, void> {
    const { toolCallId, toolName, state, input, output } = call;
    // An agent that shows names only says nothing of the end of a call either.
    if (state === 'called') {
      if (input === undefined) return yield this.#taskChunk(`Calls ${toolName}`);
      return yield* this.#call(toolCallId, toolName, input);
    }
    yield* this.#call(toolCallId, toolName, input ?? {});
    if (state === 'done')
      yield { type: 'tool-output-available', toolCallId, output: output ?? null, dynamic: true };
    else if (state === 'denied') yield { type: 'tool-output-denied', toolCallId };
    else yield { type: 'tool-output-error', toolCallId, errorText: `${toolName} failed`, dynamic: true };
  }

  *#call(toolCallId: string, toolName: string, input: unknown): Generator<UIMessageChunk, void, void> {
    if (this.#calls.has(toolCallId)) return;
    this.#calls.add(toolCallId);
    yield { type: 'tool-input-available', toolCallId, toolName, input, dynamic: true };
  }

  *#end(task: Task | undefined): Generator<UIMessageChunk, void, void> {
    const state = task?.status.state;
    const words = textOf(task?.status.message);
    if (task && state === 'TASK_STATE_FAILED') {
      const code = errorOf(task)?.code;
      return yield { type: 'error', errorText: words || code || 'The agent failed' };
    }
    if (state === 'TASK_STATE_REJECTED')
      return yield { type: 'error', errorText: words || 'The agent does not do this' };
    if (state === 'TASK_STATE_CANCELED')
      return yield { type: 'abort', reason: words || 'The task was canceled' };
    const calls = awaitedCalls(task);
    // What a tool asks on behalf of another agent is a question for the user: no page can run that tool.
    const isAsking = task && calls.every(({ needs }) => needs === 'answer');
    for (const { toolCallId, toolName, input, needs, reason } of calls) {
      yield* this.#call(toolCallId, toolName, input);
      if (needs === 'approval')
        yield {
          type: 'tool-approval-request',
          approvalId: toolCallId,
          toolCallId,
          ...((reason || words) && { reason: reason || words }),
        };
    }
    if (isAsking && words) yield* textChunks(task.status.message?.messageId ?? task.id, words);
    if (isAsking && state?.endsWith('_REQUIRED')) {
      const form = formOf(task);
      const data = { taskId: task.id, state, text: words, ...(form && { form }) };
      yield { type: 'data-question', id: task.status.message?.messageId ?? task.id, data };
    }
    yield { type: 'finish-step' };
    yield { type: 'finish', finishReason: calls.length > 0 ? 'tool-calls' : 'stop' };
  }
}

function* textChunks(id: string, delta: string): Generator<UIMessageChunk, void, void> {
  if (delta === '') return;
  yield { type: 'text-start', id };
  yield { type: 'text-delta', id, delta };
  yield { type: 'text-end', id };
}

function contentChunk(artifact: { artifactId: string; name?: string }, part: Part): UIMessageChunk {
  const mediaType = part.mediaType ?? 'application/octet-stream';
  if ('url' in part) return { type: 'file', url: part.url, mediaType };
  if ('raw' in part) return { type: 'file', url: `data:${mediaType};base64,${part.raw}`, mediaType };
  const { artifactId, name } = artifact;
  const data = { artifactId, ...(name && { name }), data: 'data' in part ? part.data : null };
  return { type: 'data-artifact', id: artifactId, data };
}
