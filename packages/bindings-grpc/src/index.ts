export { type GrpcClientOptions, grpcClient } from './client/grpc-client.ts';
export { type GrpcService, grpcService } from './server/grpc-service.ts';
export {
  type GrpcListener,
  type GrpcTls,
  type ListenGrpcOptions,
  listenGrpc,
} from './server/listen-grpc.ts';
export { POSITION } from './wire/event-position.ts';
