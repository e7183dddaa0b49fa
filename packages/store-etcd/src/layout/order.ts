// Keys of etcd are ordered by their bytes: numbers have a fixed width in them.

const positionDigits = 10;
const timeDigits = 15;
const lastTime = 10 ** timeDigits - 1;

export const positionIn = (position: number): string => String(position).padStart(positionDigits, '0');

/** Milliseconds since 1970. */
export const timeIn = (ms: number): string =>
  String(Math.min(lastTime, Math.max(0, Math.floor(ms)))).padStart(timeDigits, '0');

/** The newest first. */
export const newestFirst = (ms: number): string => timeIn(lastTime - Math.max(0, ms));

/** The largest id first: the bytes of the id turned round, in hexadecimal digits, and an end after all that follow it. */
export function largestFirst(id: string): string {
  const turned = Buffer.from(id).map((byte) => byte ^ 0xff);
  return `${Buffer.from(turned).toString('hex')}ff`;
}

/** The time of a place in a schedule, which may lie before 1970. */
export const turnIn = (ms: number): string =>
  String(Math.min(2 * lastTime, Math.max(0, Math.floor(ms) + lastTime))).padStart(timeDigits + 1, '0');

/** The time that `turnIn` wrote. */
export const turnOf = (text: string): number => Number(text) - lastTime;
