import { serverOn } from './server.ts';
import { store } from './store.ts';

/** One server in each instance. */
export const server = serverOn(store);
