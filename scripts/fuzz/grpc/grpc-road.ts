import type { Road, Told } from '../road.ts';
import type { Served } from '../served.ts';
import { type Known, validCall } from '../valid-request.ts';
import { checkGrpc, statusOf } from './check-grpc.ts';
import { GrpcWire } from './grpc-wire.ts';
import { a2aMethods, encodeMessage } from './messages.ts';
import { mutateGrpc } from './mutate-grpc.ts';
import { bodyOf, type GrpcRequest } from './request.ts';

/** Requests over gRPC, on streams of HTTP/2 that need not be written as a client would. */
export function grpcRoad(served: Pick<Served, 'grpcPort'>, hungMs: number): Road {
  const wire = new GrpcWire(served.grpcPort, hungMs);

  async function send(request: GrpcRequest): Promise<Told> {
    const outcome = await wire.send(request);
    const { path, metadata, changes } = request;
    const kind = outcome.kind === 'reply' ? statusOf(outcome.reply) : outcome.kind;
    return {
      kind,
      message: checkGrpc(request, outcome),
      isUnavailable: kind === 'UNAVAILABLE',
      request: `${changes.join(', ')}: ${JSON.stringify([path, metadata, bodyOf(request).toString('latin1')])}`,
    };
  }

  return {
    sendMutated: (random, known) => send(mutatedRequest(random, known)),
    sendValid: (random, known) => send(validGrpcRequest(random, known).request),
    close: () => wire.close(),
  };
}

/** A request that is wrong in one way or several, or at least unusual. */
export function mutatedRequest(random: () => number, known: Known): GrpcRequest {
  const { request, params } = validGrpcRequest(random, known);
  return mutateGrpc(random, request, params);
}

function validGrpcRequest(random: () => number, known: Known) {
  const { operation, params } = validCall(random, known);
  const { path, request: type } = a2aMethods.find((method) => method.operation === operation)!;
  const request: GrpcRequest = {
    operation,
    path,
    metadata: [
      ['content-type', 'application/grpc'],
      ['a2a-version', '1.0'],
    ],
    message: Buffer.from(encodeMessage(type, params)),
    changes: [],
    isMangled: false,
  };
  return { request, params };
}
