import type { Message } from '@batonjs/protocol';
import { unlessAborted } from '@batonjs/protocol/timing';
import {
  append,
  artifact,
  coalesce,
  completed,
  data,
  failed,
  file,
  type TaskUpdate,
  type Turn,
  textOf,
  type Updates,
  working,
} from '@batonjs/server';
import type { FinishReason, LanguageModelUsage, ModelMessage, TextStreamPart, ToolSet } from 'ai';
import type { PendingCall } from '../history/pending-call.ts';
import { type Given, type Kept, keeping } from '../history/task-messages.ts';
import { outputsOf, transcriptOf } from '../history/transcript.ts';
import { AI_SDK } from '../metadata.ts';
import { failureFor, failureOf, ModelFailure } from './failures.ts';
import { type ModelStream, type StreamedAgentOptions, toolUpdate } from './options.ts';
import { partReader, type Read } from './part-reader.ts';
import { type PendingQuestions, questionOf } from './questions.ts';

/** What an answer needs besides its stream. */
export interface AnswerSettings {
  readonly options: StreamedAgentOptions;
  readonly turn: Turn;
  readonly pendingQuestions: PendingQuestions;
  readonly tools: ToolSet;
  /** What the turns before this one put into the artifacts. */
  readonly given: Given;
}

/** A text that became an artifact: its length in UTF-16 code units, and the step of the model that wrote its end. */
interface WrittenText {
  readonly length: number;
  readonly step: number;
}

/** The step of what earlier turns wrote. */
const earlierTurn = -1;

type AnyPart = TextStreamPart<ToolSet>;
type Delta = Extract<AnyPart, { type: 'text-delta' | 'reasoning-delta' }>;

/** One answer of a model: the updates of a task that its stream becomes. */
export function answerOf(stream: ModelStream, settings: AnswerSettings) {
  /** The whole text of the answer, where it is wanted. */
  let whole = '';
  let nextPart: Read | null = null;
  let step = 0;
  let saysSomething = false;
  let failure: ModelFailure | undefined;
  let reason: FinishReason | undefined;
  let usage: LanguageModelUsage | undefined;
  const { options, pendingQuestions, tools, turn, given } = settings;
  const texts = new Map<string, WrittenText>(
    Object.entries(given.texts).map(([name, length]) => [name, { length, step: earlierTurn }]),
  );
  const sources: object[] = [...given.sources];
  let { files } = given;
  const answerName = options.artifact ?? 'answer';
  const transcript = transcriptOf(outputsOf(tools));
  const reader = partReader(stream.stream, turn.signal);
  pendingQuestions.onChange(() => reader.wake());

  async function readPart(): Promise<Read> {
    if (nextPart !== null) {
      const next = nextPart;
      nextPart = null;
      return next;
    }
    const read = await reader.next().catch((error: unknown) => {
      throw new ModelFailure(error);
    });
    if (read && read !== 'woken') await transcript.add(read);
    return read;
  }

  async function* updatesOf(read: Exclude<Read, undefined>): Updates {
    if (read === 'woken') return yield* ask();
    switch (read.type) {
      case 'start-step':
        step += 1;
        return;
      case 'text-delta':
        return yield* text(answerName, read);
      case 'reasoning-delta':
        if (options.showReasoning) yield* text('reasoning', read);
        return;
      case 'file':
        files += 1;
        saysSomething = true;
        return yield artifact(
          { artifactId: `file-${files}`, name: `file-${files}` },
          file(read.file.uint8Array, { mediaType: read.file.mediaType }),
        );
      case 'source': {
        const { type: _, providerMetadata: __, ...source } = read;
        sources.push(source);
        return;
      }
      case 'error':
        failure = new ModelFailure(read.error);
        return;
      case 'finish':
        reason = read.finishReason;
        usage = read.totalUsage;
        return;
    }
    const shown = toolUpdate(read, options.shownTools ?? 'names');
    if (shown) yield shown;
    if (read.type.startsWith('tool-')) yield* ask();
  }

  /** Text of one kind as it comes, coalesced, until something else comes. */
  async function* text(name: string, first: Delta): Updates {
    const { signal } = turn;
    const known = texts.get(name);
    // Models begin each step again: without this, the last word of one would touch the first of the next.
    let between = known && known.step !== step ? '\n\n' : '';
    for await (const chunk of coalesce(deltas(first), { signal, ...options.coalesce })) {
      if (first.type === 'text-delta') saysSomething = true;
      yield piece(name, between + chunk);
      between = '';
    }
  }

  /** More of a text. The first piece of a turn replaces what an earlier attempt wrote, after the text of earlier turns. */
  function piece(name: string, words: string): TaskUpdate {
    const known = texts.get(name);
    texts.set(name, { length: (known?.length ?? 0) + words.length, step });
    const isWanted = options.whole && name === answerName;
    if (isWanted) whole += words;
    if (!known) return artifact(name, words);
    if (known.step !== earlierTurn) return append(name, words);
    const { artifacts } = turn.task ?? {};
    const written = textOf(artifacts?.find(({ artifactId }) => artifactId === name));
    const before = written.slice(0, known.length);
    if (isWanted) whole = before + words;
    return written.length === known.length && known.length > 0
      ? append(name, words)
      : artifact(name, before + words);
  }

  async function* deltas(first: Delta): AsyncGenerator<string, void, void> {
    yield first.text;
    for (;;) {
      const read = await readPart();
      if (read && read !== 'woken' && read.type === first.type) yield (read as Delta).text;
      else if (!read || read === 'woken' || !isPunctuation.has(read.type)) {
        nextPart = read;
        return;
      }
    }
  }

  /** Keeps what was said before this task asks the question of another agent, once no tool can go on without an answer. */
  async function* ask(): Updates {
    const open = transcript.pending
      .filter(({ needs }) => needs === 'output')
      .map(({ toolCallId }) => toolCallId);
    if (!pendingQuestions.isDue((id) => transcript.has(id), open)) return;
    const pending = transcript.pending.map(
      (call): PendingCall =>
        pendingQuestions.asks(call.toolCallId)
          ? { ...call, needs: 'answer', call: pendingQuestions.callOf(call.toolCallId) }
          : call,
    );
    const message: Message = {
      messageId: crypto.randomUUID(),
      role: 'ROLE_AGENT',
      parts: [{ text: 'Waits for an answer to another agent' }],
      metadata: { [AI_SDK]: {} },
    };
    yield keeping(working(message), message, keptParts(transcript.messages(), pending));
    pendingQuestions.release();
  }

  async function* end(): Updates {
    const { pending } = transcript;
    if (pending.length > 0) {
      const kept = keptParts(await messages(), pending);
      return yield questionOf(kept, turn, metadata(), options.question);
    }
    const { complete = ['stop'] } = options;
    const hasContent = saysSomething || reason !== 'stop';
    if (reason === undefined || !complete.includes(reason) || !hasContent)
      return yield failed(failureFor(reason === 'stop' ? 'other' : reason), metadata());
    if (sources.length > 0) yield artifact('sources', data(sources));
    // Pollers see no metadata of updates, so that the artifact has it as well.
    const about = { artifactId: answerName, lastChunk: true, metadata: metadata() as never };
    if (whole !== '') yield artifact({ name: answerName, ...about }, whole);
    else if (texts.has(answerName)) yield append(about, '');
    yield completed(undefined, metadata());
  }

  /** What the next turn needs, to go on after this one. */
  function keptParts(messages: readonly ModelMessage[], pending: readonly PendingCall[]): Kept {
    const given = {
      files,
      sources,
      texts: Object.fromEntries([...texts].map(([name, { length }]) => [name, length])),
    };
    return { messages, pending, until: turn.message.messageId, given };
  }

  /** The SDK knows best what its stream was, but not each stream comes from `streamText`. */
  async function messages(): Promise<readonly ModelMessage[]> {
    const own = transcript.messages();
    return (await stream.responseMessages) ?? own;
  }

  function metadata(): Record<string, object> | undefined {
    if (!usage) return undefined;
    const { inputTokens, outputTokens, totalTokens } = usage;
    return { [AI_SDK]: { usage: { inputTokens, outputTokens, totalTokens } } };
  }

  return {
    async *updates(): Updates {
      yield working();
      try {
        for (let read = await readPart(); read; read = await readPart()) yield* updatesOf(read);
        // A model that stops early after a cancel ends its stream as a whole answer does.
        turn.signal.throwIfAborted();
        if (failure) throw failure;
        yield* end();
      } catch (error) {
        turn.signal.throwIfAborted();
        if (!(error instanceof ModelFailure)) throw error;
        await unlessAborted(options.onError?.(error.cause), turn.signal);
        yield failed(failureOf(error), metadata());
      } finally {
        reader.close();
      }
    },
  };
}

/** Parts that stand between two pieces of one text, and end neither. */
const isPunctuation: ReadonlySet<string> = new Set([
  ...'text-start text-end reasoning-start reasoning-end tool-input-start'.split(' '),
  ...'tool-input-delta tool-input-end ping raw'.split(' '),
]);
