// The client half, for browsers too: it imports nothing of Node.js there.

export * from './client/web-socket-client.ts';
export { WEBSOCKET_BINDING } from './wire/binding-name.ts';
