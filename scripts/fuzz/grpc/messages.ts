// What the package keeps to itself: a fuzzer writes and reads bytes that no client would.
export { decodeDetails } from '../../../packages/bindings-grpc/src/errors/wire-error.ts';
export { a2aMethods } from '../../../packages/bindings-grpc/src/wire/a2a-service.ts';
export { decodeMessage } from '../../../packages/bindings-grpc/src/wire/decode-message.ts';
export { encodeMessage } from '../../../packages/bindings-grpc/src/wire/encode-message.ts';
