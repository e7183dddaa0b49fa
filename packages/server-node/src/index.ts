export { folderFiles } from './folder-files.ts';
export { type Listening, type ListenOptions, listen } from './listen.ts';
export { type ListeningProbes, listenProbes, type ProbesOptions } from './listen-probes.ts';
export { type NodeHandlerOptions, nodeHandler } from './node-handler.ts';
