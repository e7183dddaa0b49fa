/** The codes with which the server closes a connection. Spec: RFC 6455 §7.4; those from 4000 are of this binding. */
export const closeCodes = {
  normal: 1000,
  /** The server closes, or the client was idle or answered no ping. */
  goingAway: 1001,
  /** A frame was no JSON. */
  protocolError: 1002,
  /** A frame was binary. */
  unsupportedData: 1003,
  /** Too many messages. */
  policy: 1008,
  /** A message was longer than the server takes. */
  tooBig: 1009,
  /** The credentials of the connection are refused. */
  unauthenticated: 4001,
  /** A request was of another version of A2A. */
  versionNotSupported: 4002,
} as const;
