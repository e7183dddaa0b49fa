import type { CallTarget } from '@batonjs/bindings';
import { type ServerUnaryCall, type ServerWritableStream, type sendUnaryData, status } from '@grpc/grpc-js';
import { decodeMessage } from '../wire/decode-message.ts';
import { encodeMessage } from '../wire/encode-message.ts';
import { messageTypes } from '../wire/message-types.ts';
import { definitionOf, type GrpcService } from './grpc-service.ts';

const types = messageTypes(
  { HealthCheckRequest: '1 service string', HealthCheckResponse: '1 status ServingStatus' },
  { ServingStatus: ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] },
);
const methods = [{ name: 'Check' }, { name: 'Watch', isStream: true }];

const serviceName = 'grpc.health.v1.Health';
const watchMs = 1_000;

/** The health service: SERVING while the server accepts requests and its store takes writes, also for each of `services`. */
export function healthService(server: CallTarget, services: readonly string[]): GrpcService {
  const statusOf = async (request: Buffer): Promise<string> => {
    const { service = '' } = decodeMessage(types.HealthCheckRequest, request);
    if (service !== '' && !services.includes(String(service))) return 'SERVICE_UNKNOWN';
    return (await server.ready()) ? 'SERVING' : 'NOT_SERVING';
  };
  const check = (call: ServerUnaryCall<Buffer, Uint8Array>, respond: sendUnaryData<Uint8Array>) => {
    statusOf(call.request).then(
      (serving) =>
        serving === 'SERVICE_UNKNOWN'
          ? respond({ code: status.NOT_FOUND, details: 'There is no such service here' })
          : respond(null, encodeMessage(types.HealthCheckResponse, { status: serving })),
      () => respond({ code: status.INVALID_ARGUMENT, details: 'The request is no HealthCheckRequest' }),
    );
  };
  const watch = (call: ServerWritableStream<Buffer, Uint8Array>) => {
    let known: string | undefined;
    const look = () =>
      statusOf(call.request).then(
        (serving) => {
          if (serving !== known && !call.cancelled)
            call.write(encodeMessage(types.HealthCheckResponse, { status: serving }));
          known = serving;
        },
        () =>
          call.emit('error', {
            code: status.INVALID_ARGUMENT,
            details: 'The request is no HealthCheckRequest',
          }),
      );
    const timer = setInterval(look, watchMs);
    timer.unref();
    for (const end of ['cancelled', 'error', 'close']) call.on(end, () => clearInterval(timer));
    void look();
  };
  return { definition: definitionOf(serviceName, methods), implementation: { Check: check, Watch: watch } };
}
