export { type MemoryStoreOptions, memoryStore } from './memory-store.ts';
