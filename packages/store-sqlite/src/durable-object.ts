export { type Bucket as R2Binding, bucketFiles as r2Files } from '@batonjs/store/files';
export {
  type DurableObjectStore,
  type DurableObjectStoreOptions,
  durableObjectStore,
} from './object/durable-object-store.ts';
export type { ObjectStorage, SqlCursor } from './object/object-storage.ts';
