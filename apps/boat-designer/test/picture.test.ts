import { describe, expect, it } from 'vitest';
import { rgbOf } from '../src/colors.ts';
import { drawBoat } from '../src/picture.ts';
import { encodePng } from '../src/png.ts';
import { decodePng } from './decode-png.ts';

describe('a PNG', () => {
  it('holds the pixels that were put in', () => {
    const pixels = Uint8Array.from({ length: 5 * 4 * 3 }, (_, n) => (n * 37) % 256);
    const png = decodePng(Buffer.from(encodePng({ width: 5, height: 4, pixels })));
    expect([png.width, png.height]).toEqual([5, 4]);
    const read = Array.from({ length: 20 }, (_, n) => png.at(n % 5, Math.floor(n / 5))).flat();
    expect(read).toEqual([...pixels]);
  });
});

describe('a picture', () => {
  const [hullX, hullY] = [175, 170];
  const [sailX, sailY] = [150, 120];
  const isLike = (pixel: readonly number[], color: readonly number[]) =>
    pixel.every((value, n) => Math.abs(value - color[n]!) < 60);

  it('shows hull and sails in their colours, between sky and ocean', () => {
    const png = decodePng(Buffer.from(drawBoat({ hull: 'red', sails: 'yellow' })));
    expect([png.width, png.height]).toEqual([360, 240]);
    expect(png.at(hullX, hullY)).toSatisfy((pixel: number[]) => isLike(pixel, rgbOf('red')));
    expect(png.at(sailX, sailY)).toSatisfy((pixel: number[]) => isLike(pixel, rgbOf('yellow')));
    for (const y of [5, 235]) {
      const [red, , blue] = png.at(10, y);
      expect(blue).toBeGreaterThan(red! + 30);
    }
  });

  it('is another one with another hull, and the same with the same', () => {
    const red = drawBoat({ hull: 'red' });
    expect(drawBoat({ hull: 'red' })).toEqual(red);
    const [redHull, greenHull] = [red, drawBoat({ hull: 'green' })].map((bytes) =>
      decodePng(Buffer.from(bytes)).at(hullX, hullY),
    );
    expect(redHull![0]).toBeGreaterThan(redHull![1]! + 50);
    expect(greenHull![1]).toBeGreaterThan(greenHull![0]! + 50);
  });

  it('is of modest size', () => {
    expect(drawBoat({}).length).toBeLessThan(80_000);
  });
});
