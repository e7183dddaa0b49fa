/** For adapters of frameworks that are built on `node:http`. */
export { type Asked, answer, type Mount, mountOf } from './answer.ts';
export { type Parsed, readIncomingBody } from './node-handler.ts';
export { endWithServer, keepAlive } from './node-server.ts';
export { splitTarget } from './split-target.ts';
