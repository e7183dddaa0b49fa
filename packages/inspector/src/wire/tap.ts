/** Is notified of the streams of one client, so that a reader sees when a connection breaks and goes on. */
export interface Tap {
  /** A stream or a poll was asked for. `after`: the event after which it goes on. */
  onRequest?(request: {
    readonly isStream: boolean;
    readonly operation: string;
    readonly after?: string | undefined;
  }): void;
  /** A stream has started. */
  onOpen?(): void;
  /** A stream is over. `why` if it broke. */
  onClose?(why?: string): void;
}
