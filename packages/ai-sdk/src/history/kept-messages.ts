import type { Message } from '@batonjs/protocol';
import type { ModelMessage } from 'ai';
import { toBase64 } from '../durable/stored-parts.ts';
import { AI_SDK } from '../metadata.ts';
import type { PendingCall } from './pending-call.ts';

/** What a question keeps for the next turn: the messages of this turn's model, and its calls without a result. */
export interface Kept {
  readonly messages: readonly ModelMessage[];
  readonly pending: readonly PendingCall[];
  /**
   * The id of the latest message that the turn took. `messages` do not answer those that came after it. Absent, as
   * `given`, in questions of earlier releases.
   */
  readonly until?: string;
  readonly given?: Given;
}

/** What the turns of a task have put into its artifacts, so that the next turn goes on there. */
export interface Given {
  /** How many artifacts `file-1`, `file-2` … there are. */
  readonly files: number;
  /** They become an artifact when the task completes. */
  readonly sources: readonly object[];
  /** The lengths of the texts, in UTF-16 code units, by the names of their artifacts. */
  readonly texts: Readonly<Record<string, number>>;
}

/** Metadata of the agent's message that keeps something: as it is, or encrypted where there is a secret. */
export async function keep(kept: Kept, taskId: string, secret: string | undefined): Promise<object> {
  if (secret === undefined) return { [AI_SDK]: { kept } };
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const text = new TextEncoder().encode(JSON.stringify(kept));
  const sealed = new Uint8Array(await crypto.subtle.encrypt(cipher(iv, taskId), await keyOf(secret), text));
  return { [AI_SDK]: { sealed: `${toBase64(iv)} ${toBase64(sealed)}` } };
}

/** What a message of the agent keeps; undefined if it keeps nothing. Rejects for what another secret encrypted. */
export async function keptIn(
  { metadata }: Message,
  taskId: string,
  secret: string | undefined,
): Promise<Kept | undefined> {
  const { kept, sealed } = Object(metadata?.[AI_SDK]) as { kept?: Kept; sealed?: string };
  if (sealed === undefined) return kept;
  if (secret === undefined) throw new Error('The messages of this task are encrypted: `secret` is missing');
  const [iv, bytes] = sealed.split(' ').map(fromBase64) as [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>];
  const text = await crypto.subtle.decrypt(cipher(iv, taskId), await keyOf(secret), bytes);
  return JSON.parse(new TextDecoder().decode(text)) as Kept;
}

/** Whether the agent wrote the message about its tools, for people. */
export const isAboutTools = ({ metadata }: Message): boolean => metadata?.[AI_SDK] !== undefined;

const cipher = (iv: Uint8Array<ArrayBuffer>, taskId: string) => ({
  name: 'AES-GCM',
  iv,
  additionalData: new TextEncoder().encode(taskId),
});

async function keyOf(secret: string): Promise<CryptoKey> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret));
  return crypto.subtle.importKey('raw', hash, 'AES-GCM', false, ['encrypt', 'decrypt']);
}

const fromBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
