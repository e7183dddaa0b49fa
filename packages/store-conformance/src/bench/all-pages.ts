import type { TaskPage, TaskQuery, TaskStore } from '@batonjs/store';

/**
 * Every page of a query, each from where the last one ended. The last page is the first that is neither full nor cut.
 */
export async function walk(store: TaskStore, scope: string, query: TaskQuery): Promise<TaskPage[]> {
  const pages: TaskPage[] = [];
  let after = query.after;
  for (;;) {
    const page = await store.list(scope, { ...query, after });
    pages.push(page);
    const last = page.tasks.at(-1);
    if (!last || (page.tasks.length < query.limit && !page.isCut) || pages.length > 1_000) return pages;
    after = { statusAt: last.head.statusAt, taskId: last.taskId };
  }
}
