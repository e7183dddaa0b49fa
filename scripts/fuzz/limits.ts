/** What the server that is asked allows: so little that requests meet every limit. */
export const limits = {
  bodyBytes: 256 * 1024,
  replyBytes: 128 * 1024,
  factsPerTask: 40,
  bytesPerTask: 216 * 1024,
};

/** Bytes that no reply may exceed. A server estimates them without reading texts, which JSON may write as six times as long. */
export const longestReply = 6 * limits.replyBytes;
