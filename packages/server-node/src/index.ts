export { folderFiles } from './folder-files.ts';
export {
  type Listening,
  type ListeningProbes,
  type ListenOptions,
  listen,
  listenProbes,
  type ProbesOptions,
} from './listen.ts';
export { type NodeHandlerOptions, nodeHandler } from './node-handler.ts';
