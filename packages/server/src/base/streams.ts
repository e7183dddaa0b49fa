/** How streams are kept open, with the defaults. */
export const streamOptions = {
  /**
   * How long a stream over HTTP is silent before it sends a comment, so that proxies keep the connection: one of AG-UI or a
   * chat on this server, too. Default 15,000. Below the time after which the proxy closes idle ones: some do after 10 s.
   */
  heartbeatMs: 15_000,
  /** Whether the stream of a send ends at INPUT_REQUIRED, or only with the task. Default true. */
  closeOnInputRequired: true,
};

export type StreamOptions = Readonly<typeof streamOptions>;
