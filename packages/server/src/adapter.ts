/** For adapters of frameworks with `Request` and `Response`. */
export { type Asked, answerRequest, webMountUrlOf } from './http/fetch.ts';
