import { type Rgb, rgbOf } from './colors.ts';
import type { Design } from './design.ts';
import { encodePng } from './png.ts';

const width = 360;
const height = 240;
/** Points per pixel and side: edges are smooth because their pixels are averages. */
const fine = 2;

/** Pictures that were drawn: there is one for each pair of colours, and each takes a sixth of a second. */
const drawn = new Map<string, Uint8Array>();

/** Draws a sailboat on the ocean. The same design always gives the same file. */
export function drawBoat({ hull = 'brown', sails = 'white' }: Design): Uint8Array {
  const key = `${hull} ${sails}`;
  const picture = drawn.get(key) ?? draw({ hull: rgbOf(hull), sails: rgbOf(sails) });
  drawn.set(key, picture);
  return picture;
}

function draw(colors: Colors): Uint8Array {
  const pixels = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) pixels.set(average(x, y, colors), (y * width + x) * 3);
  }
  return encodePng({ width, height, pixels });
}

interface Colors {
  readonly hull: Rgb;
  readonly sails: Rgb;
}

function average(px: number, py: number, colors: Colors): Rgb {
  const sum = [0, 0, 0];
  for (let i = 0; i < fine * fine; i++) {
    const x = (px + ((i % fine) + 0.5) / fine) / height;
    const y = (py + (Math.floor(i / fine) + 0.5) / fine) / height;
    const color = colorAt(x, y, colors);
    for (let c = 0; c < 3; c++) sum[c]! += color[c]!;
  }
  return sum.map((each) => Math.round(each / fine ** 2)) as unknown as Rgb;
}

const horizon = 0.62;
const mast = 0.74;

/** The picture as a function: `y` runs from 0 at the top to 1, `x` from 0 to 1.5. */
function colorAt(x: number, y: number, { hull, sails }: Colors): Rgb {
  const isAfloat = y < waterline(x);
  if (isAfloat && isHull(x, y))
    return y < deck(x) + 0.016 ? mix(hull, white, 0.75) : mix(hull, black, (y - deck(x)) * 1.6);
  if (isAfloat && Math.abs(x - mast) < 0.005 && y > 0.09 && y < deck(x) + 0.01) return [94, 68, 46];
  if (isFlag(x, y)) return hull;
  const shade = sailShade(x, y);
  if (isAfloat && shade !== undefined) return mix(sails, black, shade);
  return y < horizon ? sky(x, y) : sea(x, y, hull);
}

const white: Rgb = [255, 255, 255];
const black: Rgb = [0, 0, 0];

const mix = (a: Rgb, b: Rgb, share: number): Rgb => {
  const t = Math.min(1, Math.max(0, share));
  return [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t];
};

const waterline = (x: number): number => 0.745 + 0.006 * Math.sin(x * 38) + 0.003 * Math.sin(x * 91);

/** The upper edge of the hull, rising to the bow on the right. */
const deck = (x: number): number => 0.665 - 0.1 * (x - mast + 0.04) ** 2 - 0.03 * Math.max(0, x - mast);

function isHull(x: number, y: number): boolean {
  const depth = (y - deck(x)) / 0.115;
  if (depth < 0 || depth > 1) return false;
  const stern = 0.42 + 0.07 * depth ** 1.6;
  const bow = 1.12 - 0.2 * depth ** 0.8;
  return x > stern && x < bow;
}

const isFlag = (x: number, y: number): boolean =>
  x > mast &&
  x < mast + 0.075 &&
  Math.abs(y - 0.105 - 0.006 * Math.sin((x - mast) * 70)) < 0.017 * (1 - (x - mast) / 0.1);

/** The shade of the sail at a point, or undefined where there is no sail. */
function sailShade(x: number, y: number): number | undefined {
  const main = (y - 0.13) / (0.6 - 0.13);
  const belly = mast - 0.012 - 0.27 * main ** 0.85;
  if (main > 0 && main < 1 && x < mast - 0.012 && x > belly)
    return 0.04 + 0.16 * ((x - belly) / 0.27) + seam(y);
  const jib = (y - 0.17) / (0.61 - 0.17);
  if (jib > 0 && jib < 1 && x > mast + 0.014 && x < mast + 0.014 + 0.31 * jib)
    return 0.14 - 0.12 * ((x - mast) / 0.31) + seam(y);
  return undefined;
}

const seam = (y: number): number => (Math.abs(((y * 11) % 1) - 0.5) < 0.02 ? 0.08 : 0);

function sky(x: number, y: number): Rgb {
  const air = mix([92, 160, 222], [252, 226, 196], (y / horizon) ** 1.5);
  const sun = Math.hypot(x - 1.24, y - 0.2);
  if (sun < 0.062) return [255, 246, 214];
  const lit = mix(air, [255, 240, 200], 0.5 * Math.exp(-((sun - 0.062) * 12)));
  const cloud = Math.max(
    puff(x, y, 0.22, 0.2),
    puff(x, y, 0.31, 0.17),
    puff(x, y, 0.4, 0.205),
    puff(x, y, 1.06, 0.36),
    puff(x, y, 1.15, 0.34),
  );
  return mix(lit, white, 0.85 * cloud);
}

/** A soft part of a cloud around a point: 1 in its middle. */
const puff = (x: number, y: number, atX: number, atY: number): number =>
  Math.min(1, Math.max(0, 2.4 * (1 - Math.hypot((x - atX) / 0.085, (y - atY) / 0.036))));

function sea(x: number, y: number, hull: Rgb): Rgb {
  const near = (y - horizon) / (1 - horizon);
  const water = mix([86, 164, 196], [14, 58, 108], near ** 0.7);
  const wave = Math.sin((y - horizon) ** 0.6 * 90 + 2.2 * Math.sin(x * 6 + y * 11) + Math.sin(x * 17));
  const crest = mix(water, wave > 0 ? white : black, 0.1 * Math.abs(wave) ** 3);
  const glitter = Math.max(0, 1 - Math.abs(x - 1.24) * (9 - 5 * near)) * (wave > 0.55 ? 0.55 : 0.12);
  const mirror = Math.exp(-(((x - 0.76) / 0.27) ** 4)) * Math.max(0, 1 - (y - 0.745) / 0.13);
  const reflected =
    y > waterline(x) ? mix(crest, mix(hull, black, 0.35), 0.5 * mirror * (wave > -0.3 ? 1 : 0.4)) : crest;
  const foam = Math.abs(y - waterline(x) - 0.004) < 0.004 && x > 0.44 && x < 0.97 ? 0.6 : 0;
  return mix(mix(reflected, [255, 240, 204], glitter), white, foam);
}
