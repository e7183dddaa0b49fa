import { fillRandom, toBase64, writableText } from '#bytes';
import type { Clock } from '../timing/clock.ts';

/** The positions of the digits of each of the 16 bytes. */
const positions = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const { bytes: digits } = writableText('0123456789abcdef');
const { bytes: text, read } = writableText('00000000-0000-0000-0000-000000000000');
const bytes = new Uint8Array(16);

/**
 * A fresh unguessable id: a UUID of version 7. It begins with the time, so that new ids lie close together in a store's
 * indexes. Random bits come from the clock if it has its own `random`. Written as one string: V8 keeps a concatenated
 * string in pieces for as long as a store holds it.
 */
export function newId({ now, random }: Clock): string {
  if (random === Math.random) fillFromSystem();
  else fillFrom(random);
  let time = now();
  for (let index = 5; index >= 0; index--) {
    bytes[index] = time % 0x100;
    time = Math.floor(time / 0x100);
  }
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  for (let index = 0; index < 16; index++) {
    const byte = bytes[index]!;
    const at = positions[index]!;
    text[at] = digits[byte >> 4]!;
    text[at + 1] = digits[byte & 15]!;
  }
  return read();
}

/** Random bytes for 256 ids: one call of the system costs more than a hundred ids. */
const pool = new Uint8Array(16 * 256);
let used = pool.length;

function fillFromSystem(): void {
  if (used === pool.length) {
    fillRandom(pool);
    used = 0;
  }
  for (let index = 0; index < 16; index++) bytes[index] = pool[used++]!;
}

function fillFrom(random: () => number): void {
  for (let index = 0; index < 16; index += 4) {
    const bits = Math.floor(random() * 0x1_0000_0000);
    for (let byte = 0; byte < 4; byte++) bytes[index + byte] = (bits >>> (8 * byte)) & 0xff;
  }
}

/** This process, as an operator finds it: `4711 on host-a`. Without the host where a runtime does not tell it. */
export function processName(): string {
  const { process } = globalThis as { process?: Partial<NodeJS.Process> };
  const host = process?.getBuiltinModule?.('node:os').hostname();
  return [process?.pid, host && `on ${host}`].filter(Boolean).join(' ');
}

/** So many random bytes that cannot be guessed, as base64. */
export function randomText(bytes: number): string {
  const random = new Uint8Array(bytes);
  fillRandom(random);
  return toBase64(random);
}
