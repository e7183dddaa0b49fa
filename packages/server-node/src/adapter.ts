/** For adapters of frameworks on `node:http`. */
export { type Asked, answer } from './answer.ts';
export { type Parsed, readBody } from './incoming-body.ts';
export { type Mount, mountUrlOf } from './mount-url.ts';
