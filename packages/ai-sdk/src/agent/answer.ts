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
import { outputsOf, Transcript } from '../history/transcript.ts';
import { AI_SDK } from '../metadata.ts';
import { failureFor, failureOf, ModelFailure } from './failures.ts';
import { type ModelStream, type StreamedAgentOptions, toolUpdate } from './options.ts';
import { PartReader, type Read } from './part-reader.ts';
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
export class Answer {
  readonly #stream: ModelStream;
  readonly #settings: AnswerSettings;
  readonly #reader: PartReader;
  readonly #transcript: Transcript;
  readonly #texts: Map<string, WrittenText>;
  readonly #sources: object[];
  /** The whole text of the answer, where it is wanted. */
  #whole = '';
  #next: Read | null = null;
  #step = 0;
  #files: number;
  #hasContent = false;
  #failure: ModelFailure | undefined;
  #reason: FinishReason | undefined;
  #usage: LanguageModelUsage | undefined;

  constructor(stream: ModelStream, settings: AnswerSettings) {
    const { pendingQuestions, tools, turn, given } = settings;
    this.#texts = new Map(
      Object.entries(given.texts).map(([name, length]) => [name, { length, step: earlierTurn }]),
    );
    this.#sources = [...given.sources];
    this.#files = given.files;
    this.#stream = stream;
    this.#settings = settings;
    this.#transcript = new Transcript(outputsOf(tools));
    this.#reader = new PartReader(stream.stream, turn.signal);
    pendingQuestions.onChange(() => this.#reader.wake());
  }

  async *updates(): Updates {
    const { options, turn } = this.#settings;
    yield working();
    try {
      for (let read = await this.#read(); read; read = await this.#read()) yield* this.#updatesOf(read);
      // A model that stops early after a cancel ends its stream as a whole answer does.
      turn.signal.throwIfAborted();
      if (this.#failure) throw this.#failure;
      yield* this.#end();
    } catch (error) {
      turn.signal.throwIfAborted();
      if (!(error instanceof ModelFailure)) throw error;
      await unlessAborted(options.onError?.(error.cause), turn.signal);
      yield failed(failureOf(error), this.#metadata());
    } finally {
      this.#reader.close();
    }
  }

  async #read(): Promise<Read> {
    if (this.#next !== null) {
      const next = this.#next;
      this.#next = null;
      return next;
    }
    const read = await this.#reader.next().catch((error: unknown) => {
      throw new ModelFailure(error);
    });
    if (read && read !== 'woken') await this.#transcript.add(read);
    return read;
  }

  async *#updatesOf(read: Exclude<Read, undefined>): Updates {
    const { options } = this.#settings;
    if (read === 'woken') return yield* this.#ask();
    switch (read.type) {
      case 'start-step':
        this.#step += 1;
        return;
      case 'text-delta':
        return yield* this.#text(options.artifact ?? 'answer', read);
      case 'reasoning-delta':
        if (options.showReasoning) yield* this.#text('reasoning', read);
        return;
      case 'file':
        this.#files += 1;
        this.#hasContent = true;
        return yield artifact(
          { artifactId: `file-${this.#files}`, name: `file-${this.#files}` },
          file(read.file.uint8Array, { mediaType: read.file.mediaType }),
        );
      case 'source': {
        const { type: _, providerMetadata: __, ...source } = read;
        this.#sources.push(source);
        return;
      }
      case 'error':
        this.#failure = new ModelFailure(read.error);
        return;
      case 'finish':
        this.#reason = read.finishReason;
        this.#usage = read.totalUsage;
        return;
    }
    const shown = toolUpdate(read, options.shownTools ?? 'names');
    if (shown) yield shown;
    if (read.type.startsWith('tool-')) yield* this.#ask();
  }

  /** Text of one kind as it comes, coalesced, until something else comes. */
  async *#text(name: string, first: Delta): Updates {
    const { signal } = this.#settings.turn;
    const known = this.#texts.get(name);
    // Models begin each step again: without this, the last word of one would touch the first of the next.
    let between = known && known.step !== this.#step ? '\n\n' : '';
    for await (const chunk of coalesce(this.#deltas(first), { signal, ...this.#settings.options.coalesce })) {
      if (first.type === 'text-delta') this.#hasContent = true;
      yield this.#piece(name, between + chunk);
      between = '';
    }
  }

  /** More of a text. The first piece of a turn replaces what an earlier attempt wrote, after the text of earlier turns. */
  #piece(name: string, words: string): TaskUpdate {
    const known = this.#texts.get(name);
    this.#texts.set(name, { length: (known?.length ?? 0) + words.length, step: this.#step });
    const isWanted = this.#settings.options.whole && name === this.#name;
    if (isWanted) this.#whole += words;
    if (!known) return artifact(name, words);
    if (known.step !== earlierTurn) return append(name, words);
    const { artifacts } = this.#settings.turn.task ?? {};
    const written = textOf(artifacts?.find(({ artifactId }) => artifactId === name));
    const before = written.slice(0, known.length);
    if (isWanted) this.#whole = before + words;
    return written.length === known.length && known.length > 0
      ? append(name, words)
      : artifact(name, before + words);
  }

  async *#deltas(first: Delta): AsyncGenerator<string, void, void> {
    yield first.text;
    for (;;) {
      const read = await this.#read();
      if (read && read !== 'woken' && read.type === first.type) yield (read as Delta).text;
      else if (!read || read === 'woken' || !isPunctuation.has(read.type)) {
        this.#next = read;
        return;
      }
    }
  }

  /** Keeps what was said before this task asks the question of another agent, once no tool can go on without an answer. */
  async *#ask(): Updates {
    const { pendingQuestions } = this.#settings;
    const transcript = this.#transcript;
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
    yield keeping(working(message), message, this.#kept(transcript.messages(), pending));
    pendingQuestions.release();
  }

  async *#end(): Updates {
    const { options, turn } = this.#settings;
    const { pending } = this.#transcript;
    if (pending.length > 0) {
      const kept = this.#kept(await this.#messages(), pending);
      return yield questionOf(kept, turn, this.#metadata(), options.question);
    }
    const { complete = ['stop'] } = options;
    const name = this.#name;
    const hasContent = this.#hasContent || this.#reason !== 'stop';
    if (this.#reason === undefined || !complete.includes(this.#reason) || !hasContent)
      return yield failed(failureFor(this.#reason === 'stop' ? 'other' : this.#reason), this.#metadata());
    if (this.#sources.length > 0) yield artifact('sources', data(this.#sources));
    // Pollers see no metadata of updates, so that the artifact has it as well.
    const about = { artifactId: name, lastChunk: true, metadata: this.#metadata() as never };
    if (this.#whole !== '') yield artifact({ name, ...about }, this.#whole);
    else if (this.#texts.has(name)) yield append(about, '');
    yield completed(undefined, this.#metadata());
  }

  get #name(): string {
    return this.#settings.options.artifact ?? 'answer';
  }

  /** What the next turn needs, to go on after this one. */
  #kept(messages: readonly ModelMessage[], pending: readonly PendingCall[]): Kept {
    const given = {
      files: this.#files,
      sources: this.#sources,
      texts: Object.fromEntries([...this.#texts].map(([name, { length }]) => [name, length])),
    };
    return { messages, pending, until: this.#settings.turn.message.messageId, given };
  }

  /** The SDK knows best what its stream was, but not each stream comes from `streamText`. */
  async #messages(): Promise<readonly ModelMessage[]> {
    const own = this.#transcript.messages();
    return (await this.#stream.responseMessages) ?? own;
  }

  #metadata(): Record<string, object> | undefined {
    if (!this.#usage) return undefined;
    const { inputTokens, outputTokens, totalTokens } = this.#usage;
    return { [AI_SDK]: { usage: { inputTokens, outputTokens, totalTokens } } };
  }
}

/** Parts that stand between two pieces of one text, and end neither. */
const isPunctuation: ReadonlySet<string> = new Set([
  ...'text-start text-end reasoning-start reasoning-end tool-input-start'.split(' '),
  ...'tool-input-delta tool-input-end ping raw'.split(' '),
]);
