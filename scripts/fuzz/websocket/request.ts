/** A message of a client, and what carries it. */
export interface SocketRequest {
  /** The payload: the UTF-8 of a frame, unless it was changed. */
  readonly payload: Buffer;
  /** The opcode of each fragment: 1 is text, 2 binary, 0 the continuation of either, 8 to 10 are control frames. */
  readonly opcodes: readonly number[];
  /** Whether it is masked, as those of clients must be. */
  readonly isMasked: boolean;
  /** The bits of the first byte that no extension was agreed on for. */
  readonly reserved: number;
  /** The length that the first fragment claims, if it is not its own. */
  readonly claimed?: number;
  /** Hang up after so many bytes. */
  readonly cutAt?: number;
  /** Headers of the upgrade in place of the usual ones. */
  readonly headers: Readonly<Record<string, string>>;
  /** What was done to a valid request, in words. */
  readonly changes: readonly string[];
  /** Whether it may be no message of WebSocket at all: then the connection may end without an answer. */
  readonly isMangled: boolean;
}

/** The bytes of a message, in as many fragments as it has opcodes. */
export function bytesOf({ payload, opcodes, isMasked, reserved, claimed }: SocketRequest): Buffer {
  const size = Math.ceil(payload.length / opcodes.length);
  const frames = opcodes.map((opcode, index) => {
    const isLast = index === opcodes.length - 1;
    const part = payload.subarray(index * size, isLast ? payload.length : (index + 1) * size);
    const first = (isLast ? 0x80 : 0) | (index === 0 ? reserved : 0) | opcode;
    return frameOf(first, part, isMasked, index === 0 ? claimed : undefined);
  });
  return Buffer.concat(frames);
}

/** A text message of a client. */
export const textFrame = (text: string): Buffer => frameOf(0x81, Buffer.from(text), true);

function frameOf(first: number, part: Buffer, isMasked: boolean, claimed = part.length): Buffer {
  const bit = isMasked ? 0x80 : 0;
  const head = Buffer.alloc(claimed < 126 ? 2 : claimed < 65_536 ? 4 : 10);
  head[0] = first;
  head[1] = bit | (claimed < 126 ? claimed : claimed < 65_536 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(claimed, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(claimed), 2);
  if (!isMasked) return Buffer.concat([head, part]);
  const mask = Buffer.from([0x5a, 0x17, 0xc3, 0x08]);
  const masked = Buffer.from(part.map((byte, at) => byte ^ mask[at % 4]!));
  return Buffer.concat([head, mask, masked]);
}
