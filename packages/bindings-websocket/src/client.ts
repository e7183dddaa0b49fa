// The client half, for browsers too: it imports nothing of Node.js there.

export {
  type WebSocketClient,
  type WebSocketClientOptions,
  webSocketClient,
} from './client/web-socket-client.ts';
export { WEBSOCKET_BINDING } from './wire/binding-name.ts';
