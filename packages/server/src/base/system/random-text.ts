import { fillRandom, toBase64 } from '#bytes';

/** So many random bytes that cannot be guessed, as base64. */
export function randomText(bytes: number): string {
  const random = new Uint8Array(bytes);
  fillRandom(random);
  return toBase64(random);
}
