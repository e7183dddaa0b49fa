export {
  type DurableObjectStore,
  type DurableObjectStoreOptions,
  durableObjectStore,
} from './object/durable-object-store.ts';
export type { ObjectStorage, SqlCursor } from './object/object-storage.ts';
