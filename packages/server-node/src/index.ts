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
export { type S3Credentials, type S3FilesOptions, s3Files } from './s3-files.ts';
