import { crc32, inflateSync } from 'node:zlib';

/** Decodes a PNG file with 8 bits per channel, truecolour and any filters. Throws for all others. */
export function decodePng(bytes: Buffer) {
  if (bytes.subarray(0, 8).toString('latin1') !== '\x89PNG\r\n\x1a\n') throw new Error('No PNG signature');
  const chunks: { type: string; content: Buffer }[] = [];
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const framed = bytes.subarray(at + 4, at + 8 + length);
    if (crc32(framed) !== bytes.readUInt32BE(at + 8 + length)) throw new Error('Wrong checksum');
    chunks.push({ type: framed.toString('latin1', 0, 4), content: framed.subarray(4) });
    at += 12 + length;
  }
  const [header] = chunks;
  if (header?.type !== 'IHDR' || chunks.at(-1)?.type !== 'IEND') throw new Error('Wrong order of chunks');
  const width = header.content.readUInt32BE(0);
  const height = header.content.readUInt32BE(4);
  if (header.content.subarray(8).toString('hex') !== '0802000000') throw new Error('Another kind of PNG');
  const rows = inflateSync(
    Buffer.concat(chunks.flatMap(({ type, content }) => (type === 'IDAT' ? content : []))),
  );
  const stride = width * 3;
  if (rows.length !== (stride + 1) * height) throw new Error('Wrong amount of pixels');
  const pixels = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = rows[y * (stride + 1)]!;
    for (let x = 0; x < stride; x++) {
      const left = x < 3 ? 0 : pixels[y * stride + x - 3]!;
      const up = y === 0 ? 0 : pixels[(y - 1) * stride + x]!;
      const corner = x < 3 || y === 0 ? 0 : pixels[(y - 1) * stride + x - 3]!;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]!;
      pixels[y * stride + x] = rows[y * (stride + 1) + 1 + x]! + guess;
    }
  }
  return {
    width,
    height,
    at: (x: number, y: number) => [...pixels.subarray((y * width + x) * 3, (y * width + x) * 3 + 3)],
  };
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [left, up, corner].map((each) => Math.abs(guess - each)) as [number, number, number];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}
