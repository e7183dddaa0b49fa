import { type Scope, StoreError, type TaskStore } from '@batonjs/store';

/** The `commitId` of the fact at a position, read from the store; undefined if there is none or it was pruned. */
export async function commitIdAt(
  store: TaskStore,
  scope: Scope,
  taskId: string,
  version: number,
): Promise<string | undefined> {
  try {
    const [stored] = await store.readFacts(scope, taskId, version - 1, 1);
    return stored?.commitId;
  } catch (error) {
    if (StoreError.is(error, 'LOG_GAP')) return undefined;
    throw error;
  }
}
