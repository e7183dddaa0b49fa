import type { LanguageModelV4StreamPart, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { type AgentEvent, textOf } from '@batonjs/client';
import type { Artifact, Json, Message, Part, Task } from '@batonjs/protocol';

/**
 * The parts of a model's stream that the events of a task become. Texts and data of artifacts are text, in a block for each
 * artifact; messages of a working agent are reasoning; files are files, links sources. In JSON, only data is text.
 */
export class ReplyParts {
  readonly #isJson: boolean;
  /** What was given of each artifact: its text, and how many parts it has. */
  readonly #given = new Map<string, { readonly text: string; readonly parts: number }>();
  /** The bytes or the URL of each file that was given, by its artifact and its place there. */
  readonly #files = new Map<string, string>();
  #open: string | undefined;
  #blocks = 0;
  #said: string | undefined;
  #hasText = false;

  constructor(isJson: boolean) {
    this.#isJson = isJson;
  }

  *event({ task, message, statusUpdate, artifactUpdate }: AgentEvent): Generator<LanguageModelV4StreamPart> {
    if (message) yield* this.#text('message', this.#wordsOf(message.parts));
    for (const artifact of task?.artifacts ?? []) yield* this.#artifact(artifact, false);
    if (artifactUpdate) yield* this.#artifact(artifactUpdate.artifact, artifactUpdate.append ?? false);
    const status = (task ?? statusUpdate)?.status;
    if (status?.state === 'TASK_STATE_WORKING' && status.message) yield* this.#progress(status.message);
  }

  /** What ends the stream: what the agent said at the end, or asks. JSON stays what the artifacts are, if there is any. */
  *end(task: Task | undefined, metadata: SharedV4ProviderMetadata): Generator<LanguageModelV4StreamPart> {
    const { state, message } = task?.status ?? {};
    const isQuestion = state?.endsWith('_REQUIRED') ?? false;
    if (message && (isQuestion || !this.#isJson || !this.#hasText)) {
      const words = (isQuestion && textOf(message)) || this.#wordsOf(message.parts);
      yield* this.#text(`status ${message.messageId}`, words);
    }
    // Metadata must be at a part: the SDK hands that back with the next prompt, not the metadata of the end.
    yield* this.#close();
    const id = `${++this.#blocks}`;
    yield { type: 'text-start', id, providerMetadata: metadata };
    yield { type: 'text-end', id, providerMetadata: metadata };
  }

  *#artifact({ artifactId, parts }: Artifact, isMore: boolean): Generator<LanguageModelV4StreamPart> {
    const given = this.#given.get(artifactId) ?? { text: '', parts: 0 };
    const words = this.#wordsOf(parts);
    if (isMore) yield* this.#text(artifactId, words);
    // Text that was given cannot be taken back: another text is a block of its own.
    else if (words.startsWith(given.text)) yield* this.#text(artifactId, words.slice(given.text.length));
    else {
      yield* this.#close();
      yield* this.#text(artifactId, words);
    }
    const before = isMore ? given : { text: '', parts: 0 };
    this.#given.set(artifactId, { text: before.text + words, parts: before.parts + parts.length });
    for (const [at, part] of parts.entries()) yield* this.#file(`${artifactId} ${before.parts + at}`, part);
  }

  *#text(block: string, delta: string): Generator<LanguageModelV4StreamPart> {
    if (delta === '') return;
    let between = '';
    if (this.#open !== block) {
      yield* this.#close();
      // The SDK joins the texts of all blocks.
      if (this.#hasText && !this.#isJson) between = '\n\n';
      this.#blocks += 1;
      this.#open = block;
      yield { type: 'text-start', id: `${this.#blocks}` };
    }
    this.#hasText = true;
    yield { type: 'text-delta', id: `${this.#blocks}`, delta: between + delta };
  }

  *#close(): Generator<LanguageModelV4StreamPart> {
    if (this.#open === undefined) return;
    this.#open = undefined;
    yield { type: 'text-end', id: `${this.#blocks}` };
  }

  *#progress(message: Message): Generator<LanguageModelV4StreamPart> {
    const words = textOf(message);
    if (this.#said === message.messageId || words === '') return;
    this.#said = message.messageId;
    yield* this.#close();
    const id = `${++this.#blocks}`;
    yield { type: 'reasoning-start', id };
    yield { type: 'reasoning-delta', id, delta: words };
    yield { type: 'reasoning-end', id };
  }

  *#file(key: string, part: Part): Generator<LanguageModelV4StreamPart> {
    if (!('raw' in part) && !('url' in part)) return;
    const content = 'url' in part ? part.url : part.raw;
    // Events repeat what an artifact has; another file in the place of one that was given is new.
    if (this.#files.get(key) === content) return;
    this.#files.set(key, content);
    if ('url' in part) {
      // As a file, the SDK would fetch it at once.
      const { url, filename: title } = part;
      return yield { type: 'source', sourceType: 'url', id: key, url, ...(title && { title }) };
    }
    const mediaType = part.mediaType || 'application/octet-stream';
    yield { type: 'file', mediaType, data: { type: 'data', data: part.raw } };
  }

  #wordsOf(parts: readonly Part[]): string {
    const words = (part: Part): string => {
      if ('data' in part) return JSON.stringify(part.data satisfies Json);
      return 'text' in part && !this.#isJson ? part.text : '';
    };
    return parts.map(words).join('');
  }
}
