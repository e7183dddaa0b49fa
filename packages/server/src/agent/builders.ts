import type { Metadata, TaskUpdate } from '@batonjs/lifecycle';
import type { Artifact, Json, Message, Part, TaskState } from '@batonjs/protocol';
import { toBase64 } from '#bytes';

/** Members that the builders add to a part. */
export interface PartOptions {
  readonly mediaType?: string;
  readonly filename?: string;
  readonly metadata?: Metadata;
}

/** A part of plain text. */
export const text = (text: string, options?: PartOptions): Part => ({ text, ...options });

/** A part of JSON. */
export const data = (data: unknown, options?: PartOptions): Part => ({ data: data as Json, ...options });

/** A part with a file's bytes. */
export const file = (bytes: Uint8Array, options?: PartOptions): Part => ({
  raw: toBase64(bytes),
  ...options,
});

/** A part that points to a file. `url` is absolute. */
export const link = (url: string, options?: PartOptions): Part => ({ url, ...options });

/** Text where a part is expected is a text part. */
export type PartLike = Part | string;

const toPart = (part: PartLike): Part => (typeof part === 'string' ? text(part) : part);

/** Parts from text, or from parts and texts. */
export const toParts = (content: string | readonly PartLike[]): Part[] =>
  typeof content === 'string' ? [text(content)] : content.map(toPart);

/** A message of the agent: the answer of a message agent. */
export const reply = (...parts: readonly [PartLike, ...PartLike[]]): Message => ({
  messageId: crypto.randomUUID(),
  role: 'ROLE_AGENT',
  parts: parts.map(toPart),
});

/** The message of a status: text, parts, or a whole message. */
export type Note = string | Part | readonly Part[] | Message;

const toMessage = (note: Note): Message => {
  if (typeof note === 'string') return reply(note);
  if (Array.isArray(note)) return reply(...(note as [Part, ...Part[]]));
  return 'messageId' in note ? note : reply(note as Part);
};

const status =
  (state: TaskState) =>
  (note?: Note, metadata?: Metadata): TaskUpdate => ({
    status: { state, ...(note !== undefined && { message: toMessage(note) }) },
    ...(metadata && { metadata }),
  });

/** The agent works on the task. May be repeated to report progress. */
export const working = status('TASK_STATE_WORKING');
/** The agent needs an answer of the client; ends the turn, the answer starts the next. */
export const inputRequired = status('TASK_STATE_INPUT_REQUIRED');
/** The agent waits for an authorization. It may go on by itself, or end and be woken. */
export const authRequired = status('TASK_STATE_AUTH_REQUIRED');
/** Done. Nothing may follow. After a cancel request the task becomes CANCELED instead. */
export const completed = status('TASK_STATE_COMPLETED');
/**
 * Done, also where a client asked to cancel meanwhile: the agent vouches that the work was finished before it noticed.
 * CancelTask is then answered `TASK_NOT_CANCELABLE`. Nothing may follow.
 */
export const completedBeforeCancel = (note?: Note, metadata?: Metadata): TaskUpdate => ({
  ...completed(note, metadata),
  beforeCancel: true,
});
/** The agent stopped because it was asked to. Nothing may follow. */
export const canceled = status('TASK_STATE_CANCELED');
/** The agent declines. Nothing may follow. */
export const rejected = status('TASK_STATE_REJECTED');

/**
 * The task is found by these labels from now on, in place of those that the agent set before: texts of 1 to 64 characters,
 * at most 16 with those that it began with, which stay. `labels` of any other update sets them in the same commit.
 */
export const labels = (labels: readonly string[]): TaskUpdate => ({ labels });

/** Why a task failed, for programs. */
export interface Failure {
  /** UPPER_SNAKE_CASE, such as `INVALID_INPUT`. */
  readonly code: string;
  /** For people. */
  readonly message: string;
  /** Whether the same request may succeed later. */
  readonly retryable?: boolean;
  readonly details?: Json;
}

/**
 * The task failed: text for people, or a `Failure`, which is sent as text and as a data part. Nothing may follow. After a
 * cancel request the task becomes CANCELED instead.
 */
export function failed(why?: Note | Failure, metadata?: Metadata): TaskUpdate {
  const note = isFailure(why)
    ? [text(why.message), data({ ...why }, { mediaType: 'application/json' })]
    : why;
  return status('TASK_STATE_FAILED')(note, metadata);
}

const isFailure = (why: unknown): why is Failure =>
  typeof why === 'object' && why !== null && 'code' in why && 'message' in why && !('messageId' in why);

/** What `artifact` takes besides parts. */
export type ArtifactOptions = Partial<Omit<Artifact, 'parts'>> & { readonly lastChunk?: boolean };

/**
 * An artifact of the task. The first argument is its name, which is also its id, or its members. Within a task, an
 * artifact with the same id replaces the earlier one; `append` adds to it.
 */
export function artifact(
  about: string | ArtifactOptions,
  ...parts: readonly [PartLike, ...PartLike[]]
): TaskUpdate & { artifact: Artifact } {
  const { lastChunk, ...rest } = typeof about === 'string' ? { name: about } : about;
  const artifactId = rest.artifactId ?? rest.name ?? crypto.randomUUID();
  return { artifact: { ...rest, artifactId, parts: parts.map(toPart) }, ...(lastChunk && { lastChunk }) };
}

/** More parts for the artifact with this id. `lastChunk` says that it is complete now. */
export function append(
  to: string | (ArtifactOptions & { readonly artifactId: string }),
  ...parts: readonly [PartLike, ...PartLike[]]
): TaskUpdate & { artifact: Artifact } {
  return { ...artifact(typeof to === 'string' ? { artifactId: to } : to, ...parts), append: true };
}

/** The content of a file: its bytes, a `Blob`, or a stream, such as `createReadStream(path)` of `node:fs`. */
export type FileContent = Uint8Array | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** The file of a part. It is read when it is asked for. */
export interface TaskFile {
  readonly filename: string | undefined;
  readonly mediaType: string | undefined;
  /** In bytes; undefined for a file elsewhere. */
  readonly size: number | undefined;
  /** In hex; of files that the server keeps. */
  readonly sha256: string | undefined;
  /** The bytes, as fast as they are read. Throws while they are read if the file is gone. */
  stream(): AsyncIterable<Uint8Array>;
  /** All bytes, in memory. */
  bytes(): Promise<Uint8Array>;
  text(): Promise<string>;
  blob(): Promise<Blob>;
}
