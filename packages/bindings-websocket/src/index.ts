export * from './client/web-socket-client.ts';
export { attachWebSocket, type WebSocketEndpoint } from './server/attach-web-socket.ts';
export type { WebSocketServerOptions } from './server/web-socket-options.ts';
export { WEBSOCKET_BINDING } from './wire/binding-name.ts';
