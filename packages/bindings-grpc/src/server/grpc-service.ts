import type { CallTarget } from '@batonjs/bindings';
import type { ServiceDefinition, UntypedHandleCall, UntypedServiceImplementation } from '@grpc/grpc-js';
import { a2aMethods, a2aServiceName } from '../wire/a2a-service.ts';
import { definitionOf } from '../wire/service-definition.ts';
import { answerStream } from './answer-stream.ts';
import { answerUnary } from './answer-unary.ts';

/** The two arguments of `addService` of a `grpc.Server`. */
export interface GrpcService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

/**
 * The service of A2A 1.0 for a `grpc.Server` that you have already: pass both members to its `addService`. List its
 * address with `server.addInterface`, or in `card.supportedInterfaces`. Spec: §10.
 */
export function grpcService(server: CallTarget): GrpcService {
  const methods = a2aMethods.map((method) => {
    const answer = method.isStream
      ? (call: Parameters<typeof answerStream>[2]) => void answerStream(method, server, call)
      : (...call: [Parameters<typeof answerUnary>[2], Parameters<typeof answerUnary>[3]]) =>
          answerUnary(method, server, ...call);
    return [method.operation, answer as UntypedHandleCall] as const;
  });
  return {
    definition: definitionOf(
      a2aServiceName,
      a2aMethods.map(({ operation, isStream }) => ({ name: operation, isStream })),
    ),
    implementation: Object.fromEntries(methods),
  };
}
