export { type Listening, type ListenOptions, listen } from './listen.ts';
export { type NodeHandlerOptions, nodeHandler } from './node-handler.ts';
