import type { Message } from '@batonjs/protocol';

/** The media type of offers and of the answers to them. */
export const MODE_OFFER_TYPE = 'application/vnd.batonjs.interaction-mode+json';

/** How people and agents talk. */
export type InteractionMode = 'text' | 'form' | 'audio' | 'video';

/** An offer to go on in another mode. */
export interface ModeOffer {
  readonly offerId: string;
  readonly mode: InteractionMode;
  /** The channel of the mode. Absent for `text` and `form` in the task itself. */
  readonly url?: string;
  /** Too late to accept after it. */
  readonly expiresAt?: Date;
}

const modes: ReadonlySet<unknown> = new Set<InteractionMode>(['text', 'form', 'audio', 'video']);

export const isMode = (value: unknown): value is InteractionMode => modes.has(value);

/** Whether a URL may lead to a channel: absolute, of http, https, ws or wss, and without credentials in it. */
export function isChannel(text: unknown): text is string {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  return url !== null && /^(?:http|ws)s?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

/** The offer in a message; undefined if it has none that can be read. */
export function offerIn(message: Message | undefined): ModeOffer | undefined {
  const { offerId, mode, url, expiresAt } = contentOf(message, 'offer');
  if (typeof offerId !== 'string' || !isMode(mode)) return undefined;
  if (url === undefined ? needsChannel(mode) : !isChannel(url)) return undefined;
  const date = new Date(typeof expiresAt === 'string' ? expiresAt : Number.NaN);
  if (expiresAt !== undefined && Number.isNaN(date.getTime())) return undefined;
  return {
    offerId,
    mode,
    ...(url !== undefined && { url: url as string }),
    ...(expiresAt !== undefined && { expiresAt: date }),
  };
}

/** Media need a channel of their own. */
export const needsChannel = (mode: InteractionMode): boolean => mode === 'audio' || mode === 'video';

/** The answer in a message; undefined if it has none. */
export function answerIn(message: Message): { offerId: string; isAccepted: boolean } | undefined {
  const { offerId, accepted } = contentOf(message, 'answer');
  if (typeof offerId !== 'string' || typeof accepted !== 'boolean') return undefined;
  return { offerId, isAccepted: accepted };
}

function contentOf(message: Message | undefined, member: string): Readonly<Record<string, unknown>> {
  const part = message?.parts.find(({ mediaType }) => mediaType === MODE_OFFER_TYPE);
  const data: unknown = part && 'data' in part ? part.data : undefined;
  return Object(Object(data)[member]);
}
