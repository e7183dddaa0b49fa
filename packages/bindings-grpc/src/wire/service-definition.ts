import type { ServiceDefinition } from '@grpc/grpc-js';

/** Bytes go to and come from grpc-js as they are: a request that is no message gets an error of ours. */
const toBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const asTheyAre = (bytes: Buffer): Buffer => bytes;

/** The definition of a service whose handlers take and return bytes. */
export function definitionOf(
  service: string,
  methods: readonly { readonly name: string; readonly isStream?: boolean }[],
): ServiceDefinition {
  return Object.fromEntries(
    methods.map(({ name, isStream = false }) => [
      name,
      {
        path: `/${service}/${name}`,
        originalName: name,
        requestStream: false,
        responseStream: isStream,
        requestSerialize: toBuffer,
        requestDeserialize: asTheyAre,
        responseSerialize: toBuffer,
        responseDeserialize: asTheyAre,
      },
    ]),
  );
}
