/** For adapters of frameworks that are built on `node:http`. */
export { type Asked, answer } from './answer.ts';
export { type Parsed, readIncomingBody } from './incoming-body.ts';
export { type Mount, mountOf } from './mount-of.ts';
export { endWithServer, keepAlive } from './node-server.ts';
export { splitTarget } from './split-target.ts';
