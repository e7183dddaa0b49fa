/** What Redis answers. Maps and doubles are not used. */
export type RedisReply = string | number | null | readonly RedisReply[];

/**
 * What the store needs of a Redis client. A driver connects by itself, again and again, and never sends a command anew
 * that may have arrived. Where Redis cannot be reached or does not answer in time, its methods reject with a `StoreError`
 * of code `UNAVAILABLE`; where Redis refuses, with an error whose message starts with Redis's own code (`NOSCRIPT …`).
 */
export interface RedisDriver {
  /** What to call the server in messages: without a password. */
  readonly name: string;
  /** Which connection there is: another number whenever it is made anew, 0 while there is none. */
  readonly epoch: number;
  /** Waits for a connection if it may come soon. What `INFO` says, of every primary of a Cluster. */
  info(): Promise<readonly string[]>;
  /** Sends one command to the node that has this key, if there is a connection; strings are sent and read as UTF-8. */
  command(key: string, args: readonly string[]): Promise<RedisReply>;
  /** Listens to channels until it is closed. Resolves when it does; `missed` is called whenever it did not for a while. */
  subscribe(
    channels: readonly string[],
    heard: (message: string, channel: string) => void,
    missed: () => void,
  ): Promise<void>;
  /** Disconnects. What is under way rejects. */
  close(): Promise<void>;
}
