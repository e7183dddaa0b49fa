import { isSameText } from '@batonjs/protocol/security';
import { toToken, valuesIn } from '../../base/token.ts';

/** What a link says of a file. Who has the link may read it. `expiresAt`: milliseconds since 1970. */
export type LinkedFile = readonly [
  key: string,
  size: number,
  sha256: string,
  mediaType: string,
  filename: string,
  expiresAt: number,
];

/** The text that is signed. It has more members than the text of a callback. */
export const signedText = (queue: string, file: LinkedFile): string =>
  JSON.stringify(['file', queue, ...file]);

/** The content of a token, JSON of a file and its signature, whether that is right or not; undefined for another text. */
export function readToken(token: string) {
  const values = valuesIn(token);
  const [key, size, sha256, mediaType, filename, expiresAt, signature] = values as [...LinkedFile, unknown];
  const file: LinkedFile = [`${key}`, size, sha256, mediaType, filename, expiresAt];
  // Other texts may read as the same one.
  if (!isSameText(toToken(...values), token) || typeof signature !== 'string') return undefined;
  return { file, signature };
}
