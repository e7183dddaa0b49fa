export {
  type DurableObjectStore,
  type DurableObjectStoreOptions,
  durableObjectStore,
} from './object/durable-object-store.ts';
export type { ObjectStorage, SqlCursor } from './object/object-storage.ts';
export { type R2Binding, r2Files } from './object/r2-files.ts';
