export { a2aExpress } from './a2a-express.ts';
export { type Listening, type ListenOptions, listen } from './listen.ts';
