export { type GrpcClientOptions, grpcClient } from './client/grpc-client.ts';
export { type GrpcService, grpcService } from './server/grpc-service.ts';
export * from './server/listen-grpc.ts';
export { POSITION } from './wire/event-position.ts';
