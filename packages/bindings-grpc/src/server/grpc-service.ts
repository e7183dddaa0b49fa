import type { CallTarget, ProtobufVersion } from '@batonjs/bindings';
import type { ServiceDefinition, UntypedHandleCall, UntypedServiceImplementation } from '@grpc/grpc-js';
import { a2aService, type Service, serviceOf } from '../wire/a2a-service.ts';
import { answerStream, answerUnary } from './answer-stream.ts';

/** The two arguments of `addService` of a `grpc.Server`. */
export interface GrpcService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

/**
 * The service of A2A 1.0, or of another version, for a `grpc.Server` that you have already: pass both members to its
 * `addService`. List its address with `server.addInterface`, or in `card.supportedInterfaces`. Spec: §10.
 */
export const grpcService = (server: CallTarget, version?: ProtobufVersion): GrpcService =>
  implement(server, version ? serviceOf(version) : a2aService);

/** A service over the operations of a server. */
export function implement(server: CallTarget, { name: service, version, methods }: Service): GrpcService {
  const handlers = methods.map((method) => {
    const answer = method.isStream
      ? (call: Parameters<typeof answerStream>[3]) => void answerStream(method, version, server, call)
      : (...call: [Parameters<typeof answerUnary>[3], Parameters<typeof answerUnary>[4]]) =>
          answerUnary(method, version, server, ...call);
    return [method.name, answer as UntypedHandleCall] as const;
  });
  return { definition: definitionOf(service, methods), implementation: Object.fromEntries(handlers) };
}

/** Bytes go to and come from grpc-js as they are: a request that is no message gets an error of ours. */
const toBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const asTheyAre = (bytes: Buffer): Buffer => bytes;

/** The definition of a service whose handlers take and return bytes. */
export const definitionOf = (
  service: string,
  methods: readonly { readonly name: string; readonly isStream?: boolean }[],
): ServiceDefinition =>
  Object.fromEntries(
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
