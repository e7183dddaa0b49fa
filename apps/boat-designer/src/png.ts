import { crc32, deflateSync } from 'node:zlib';

/** Pixels, row by row from the top; red, green and blue of each, 0 to 255. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

const signature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const bytesPerPixel = 3;

/** A picture as a PNG file: 8 bits per channel, truecolour. */
export function encodePng({ width, height, pixels }: Picture): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(filtered(width, height, pixels), { level: 9 })),
    chunk('IEND', new Uint8Array()),
  ]);
}

function chunk(type: string, content: Uint8Array): Uint8Array {
  const framed = Buffer.alloc(content.length + 12);
  framed.writeUInt32BE(content.length, 0);
  framed.write(type, 4, 'latin1');
  framed.set(content, 8);
  framed.writeUInt32BE(crc32(framed.subarray(4, content.length + 8)), content.length + 8);
  return framed;
}

/** Each row as its difference from the one above, which compresses better: filter type 2. */
function filtered(width: number, height: number, pixels: Uint8Array): Uint8Array {
  const stride = width * bytesPerPixel;
  const rows = new Uint8Array((stride + 1) * height);
  for (let y = 0; y < height; y++) {
    rows[y * (stride + 1)] = 2;
    for (let x = 0; x < stride; x++) {
      const above = y === 0 ? 0 : pixels[(y - 1) * stride + x]!;
      rows[y * (stride + 1) + 1 + x] = pixels[y * stride + x]! - above;
    }
  }
  return rows;
}
