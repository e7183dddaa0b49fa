import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A token that opens the inspector. */
export interface AccessToken {
  readonly text: string;
  /** Whether an `Authorization` header carries it. Takes the same time for every wrong one. */
  isIn(authorization: string | undefined): boolean;
}

/** The given token, or a random one. Throws `TypeError` for one that could be guessed. */
export function accessToken(text = randomBytes(24).toString('base64url')): AccessToken {
  if (text.length < 16) throw new TypeError('The token of the inspector must have at least 16 characters');
  const expected = digest(text);
  return {
    text,
    isIn: (authorization = '') =>
      /^Bearer /i.test(authorization) && timingSafeEqual(digest(authorization.slice(7)), expected),
  };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
