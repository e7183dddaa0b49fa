import type { AgentCard } from '@batonjs/protocol';

/** A card with the caching headers of its response. */
export interface CachedCard {
  readonly card: AgentCard;
  readonly etag: string | null;
  /** The client uses the cached card without asking until this time, in milliseconds since 1970. */
  readonly freshUntil: number;
}

/** Stores cards by their URL. A `Map` implements it. */
export interface CardCache {
  get(url: string): CachedCard | undefined;
  set(url: string, card: CachedCard): unknown;
}
