/** An answer of Redis. Maps and doubles are not used. */
export type RedisReply = string | number | null | readonly RedisReply[];

/** The members of an answer; none if it is no list. */
export const listOf = (reply: RedisReply | undefined): readonly RedisReply[] =>
  Array.isArray(reply) ? reply : [];

/** The texts in an answer, in groups of so many; null is an empty text. */
export function groupsOf(reply: RedisReply | undefined, size: number): string[][] {
  const texts = listOf(reply).map((text) => String(text ?? ''));
  return Array.from({ length: texts.length / size }, (_, n) => texts.slice(n * size, (n + 1) * size));
}

/**
 * The part of a Redis client that the store needs. A driver connects and reconnects by itself, and never repeats a
 * command that may have arrived. Where Redis cannot be reached or does not answer in time, its methods reject with a
 * `StoreError` of code `UNAVAILABLE`; where Redis refuses, with an error whose message starts with Redis's own code
 * (`NOSCRIPT …`).
 */
export interface RedisDriver {
  /** The name of the server in messages, without its password. */
  readonly name: string;
  /** The number of the present connection: another one after each reconnect, 0 while there is none. */
  readonly epoch: number;
  /** Waits for a connection if it may come soon. Resolves to the `INFO` of the server, or of every primary of a Cluster. */
  info(): Promise<readonly string[]>;
  /** Sends one command to the node that has this key, if there is a connection; strings are sent and read as UTF-8. */
  command(key: string, args: readonly string[]): Promise<RedisReply>;
  /** Subscribes to channels until `close`. Resolves when it is subscribed; `missed` is called after each interruption. */
  subscribe(
    channels: readonly string[],
    receive: (message: string, channel: string) => void,
    missed: () => void,
  ): Promise<void>;
  /** Disconnects. Calls under way reject. */
  close(): Promise<void>;
}
