import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CopiedSources } from './copied-sources.ts';

/** What is added to a type, and the files in which the compiler must miss it. */
const additions: Readonly<
  Record<string, { file: string; edit: readonly [RegExp, string]; places: readonly string[] }>
> = {
  'a fact': {
    file: 'packages/lifecycle/src/facts.ts',
    edit: [/^export type Fact =$/m, "export type Fact =\n  | (Written & { readonly type: 'paused' })"],
    places: [
      'packages/lifecycle/src/evolve.ts',
      'packages/lifecycle/src/facts.ts',
      'packages/lifecycle/src/head.ts',
      'packages/lifecycle/src/view.ts',
      'packages/server/src/log/write/task-room.ts',
      'packages/server/src/turns/attempts.ts',
      'packages/inspector/src/app/timeline/describe-entry.ts',
      'packages/inspector/src/app/timeline/replay.ts',
    ],
  },
  'a member of a query': {
    file: 'packages/store/src/port/list.ts',
    edit: [/^export interface TaskFilter \{$/m, '$&\n  readonly owner?: string;'],
    places: [
      'packages/store-memory/src/task-index.ts',
      'packages/store/src/rules/list.ts',
      'packages/store-sqlite/src/tables/task-list.ts',
      'packages/store-redis/src/rows/task-list.ts',
      'packages/store-postgres/src/tables/task-list.ts',
      'packages/store-etcd/src/logs/task-list.ts',
      'packages/store-conformance/src/checks/list-filters.ts',
    ],
  },
  'a member of a request': {
    file: 'packages/protocol/src/model/requests.ts',
    edit: [/^export const ListTasksRequest = message\(\{$/m, '$&\n  owner: optionalText,'],
    places: ['packages/bindings-grpc/src/wire/a2a-service.ts'],
  },
  'a member of the filter of the inspector': {
    file: 'packages/inspector/src/api/task.ts',
    edit: [/^export interface TaskFilter \{$/m, '$&\n  readonly owner?: string;'],
    places: [
      'packages/inspector/src/routes/read-filter.ts',
      'packages/inspector/src/tasks/agent-tasks.ts',
      'packages/inspector/src/tasks/store-tasks.ts',
    ],
  },
};

let copy: CopiedSources;
let failing: string[];
beforeAll(async () => {
  const places = Object.values(additions).flatMap((addition) => addition.places);
  copy = new CopiedSources(places, { jsx: 'react-jsx', jsxImportSource: 'preact', lib: ['ES2023', 'DOM'] });
  for (const { file, edit } of Object.values(additions)) copy.edit(file, ...edit);
  ({ failing } = await copy.compile());
}, 300_000);
afterAll(() => copy.remove());

describe('the compiler misses', () => {
  it.each(Object.entries(additions))('%s that was forgotten, in each place', (_, { places }) => {
    expect(failing).toEqual(expect.arrayContaining([...places]));
  });
});
