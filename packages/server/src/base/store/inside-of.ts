import type { TaskStore } from '@batonjs/store';

/** The options of a server by which its tasks are found in its store. */
export interface Inside {
  /** Its name in the store. */
  readonly name: string;
  readonly store: TaskStore;
  readonly publicUrl: string | undefined;
}

/** Registered, because each entry of this package is a file of its own: a variable would exist once per entry. */
const inside = Symbol.for('@batonjs/server/inside');

/** Remembers the inside of a server for {@link insideOf}. */
export const keepInside = <Server extends object>(server: Server, value: Inside): Server =>
  Object.defineProperty(server, inside, { value });

/** Name, store and public URL of a server; undefined for an object that `createAgentServer` did not make. */
export const insideOf = (server: object): Inside | undefined => (server as { [inside]?: Inside })[inside];
