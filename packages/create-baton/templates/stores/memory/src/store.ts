import { memoryStore } from '@batonjs/store-memory';

/** Tasks live as long as this process. */
export const store = memoryStore();

export const closeStore = () => {};
