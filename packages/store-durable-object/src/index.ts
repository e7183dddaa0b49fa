export {
  type DurableObjectStore,
  type DurableObjectStoreOptions,
  durableObjectStore,
} from './durable-object-store.ts';
export type { ObjectStorage, SqlCursor } from './object-storage.ts';
