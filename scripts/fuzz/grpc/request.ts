import type { OperationName } from '@batonjs/protocol/operations';

/** A request as it is written to a stream of HTTP/2. */
export interface GrpcRequest {
  readonly operation: OperationName;
  readonly path: string;
  /** In order; a name may stand there more than once. */
  readonly metadata: readonly (readonly [name: string, value: string])[];
  /** The message, without its frame. */
  readonly message: Buffer;
  /** The frames that are sent; default: one with the message. */
  readonly frames?: Buffer;
  /** What was done to a valid request, in words. */
  readonly changes: readonly string[];
  /** Whether it may be no gRPC at all: then grpc-js may refuse it in its own way. */
  readonly isMangled: boolean;
  /** Hang up after so many bytes. */
  readonly cutAt?: number;
}

/** A message with its frame: a flag and the length. */
export function framed(message: Buffer, { flag = 0, length = message.length } = {}): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flag, 0);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

/** All the bytes after the headers. */
export const bodyOf = ({ frames, message }: GrpcRequest): Buffer => frames ?? framed(message);
