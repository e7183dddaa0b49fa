import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../repository/source-files.ts';
import { CopiedSources } from './copied-sources.ts';

interface Addition {
  readonly file: string;
  readonly edit: readonly [RegExp, string];
  /** The name of what is added, or what else only the errors of its places have. */
  readonly name: string;
  /** The files that the compiler must name. */
  readonly places: readonly string[];
}

/** What is added to a type or a table, and the files in which the compiler must miss it. */
const additions: Readonly<Record<string, Addition>> = {
  // What else an operation needs: `new-operation.test.ts`.
  'an operation': {
    file: 'packages/protocol/src/operation-table.ts',
    edit: [
      /^( *)CancelTask: (.*)$/m,
      "$&\n$1PauseTask: { kind: 'unary', since: '1.1', repeatable: 'always', http: ['POST /tasks/{id}:pause'] },",
    ],
    name: 'PauseTask|ending return statement',
    places: [
      'packages/protocol/src/params.ts',
      'packages/protocol/src/schemas.ts',
      'packages/server/src/operations/operations.ts',
      'packages/bindings-v0-3/src/http/operations.ts',
      'scripts/fuzz/valid-request.ts',
    ],
  },
  'a fact': {
    file: 'packages/lifecycle/src/facts/facts.ts',
    edit: [/^export type Fact =$/m, "export type Fact =\n  | (Written & { readonly type: 'paused' })"],
    name: 'paused',
    places: [
      'packages/lifecycle/src/state/evolve.ts',
      'packages/lifecycle/src/facts/traits.ts',
      'packages/lifecycle/src/state/head.ts',
      'packages/lifecycle/src/fork/fork-log.ts',
      'packages/inspector/src/app/timeline/describe-entry.ts',
    ],
  },
  'a fact that clients see from now on': {
    file: 'packages/lifecycle/src/facts/traits.ts',
    edit: [/^ {2}'wake-set': \[false, false,/m, "  'wake-set': [true, false,"],
    name: 'WakeSet',
    places: ['packages/lifecycle/src/state/view.ts'],
  },
  'an update of an agent': {
    file: 'packages/lifecycle/src/facts/task-update.ts',
    edit: [
      /^export type TaskUpdate =$/m,
      '$&\n  | { readonly pinned: boolean; readonly metadata?: Metadata }',
    ],
    name: 'pinned',
    places: ['packages/lifecycle/src/decide/decide.ts', 'packages/server/src/agent/check-agent-output.ts'],
  },
  'what an update records besides': {
    file: 'packages/lifecycle/src/facts/task-update.ts',
    edit: [/^interface Recorded \{$/m, '$&\n  readonly mood?: string;'],
    name: 'mood',
    places: [
      'packages/lifecycle/src/facts/task-update.ts',
      'packages/server/src/agent/check-agent-output.ts',
    ],
  },
  'a member of the state': {
    file: 'packages/lifecycle/src/state/state.ts',
    edit: [/^export interface State \{$/m, '$&\n  readonly held?: string;'],
    name: 'held',
    places: ['packages/lifecycle/src/state/evolve.ts'],
  },
  'a member of the head': {
    file: 'packages/lifecycle/src/state/head.ts',
    edit: [/^export interface Head \{$/m, '$&\n  readonly rank?: number;'],
    name: 'rank',
    places: ['packages/lifecycle/src/state/head.ts'],
  },
  'a filter of lists in stores': {
    file: 'packages/store/src/port/task-store.ts',
    edit: [/^export interface TaskFilter \{$/m, '$&\n  readonly owner?: string;'],
    name: 'owner',
    places: [
      'packages/store/src/rules/list.ts',
      'packages/store-conformance/src/checks/list-filters.ts',
      'packages/store-conformance/src/model/model.ts',
    ],
  },
  'what every database has to search in a way of its own': {
    file: 'packages/store/src/rules/list.ts',
    edit: [
      /^ {2}readonly terms: readonly string\[\];\n\};$/m,
      '  readonly terms: readonly string[];\n  readonly span?: string;\n};',
    ],
    name: 'span',
    places: [
      'packages/store-memory/src/task-index.ts',
      'packages/store-sqlite/src/tables/task-list.ts',
      'packages/store-redis/src/redis-rows.ts',
      'packages/store-postgres/src/tables/task-list.ts',
      'packages/store-etcd/src/logs/task-list.ts',
    ],
  },
  'a filter of lists in requests': {
    file: 'packages/protocol/src/model/messages.ts',
    edit: [/^export const ListTasksRequest = message\(\{$/m, '$&\n  tag: optionalText,'],
    name: 'tag',
    places: [
      'packages/bindings-grpc/src/wire/a2a-service.ts',
      'packages/client/src/connection/needed-extensions.ts',
      'packages/server/src/operations/list-tasks.ts',
    ],
  },
  'a filter of lists in the search of operators': {
    file: 'packages/operator/src/search/language.ts',
    edit: [/^ {2}readonly labels\?: readonly string\[\];$/m, '$&\n  readonly shade?: string;'],
    name: 'shade',
    places: ['packages/inspector/src/tasks/filters.ts'],
  },
};

/** The kinds of members that CONTRIBUTING has a paragraph for, each with those of the additions above. */
const ways: Readonly<Record<string, readonly (keyof typeof additions)[]>> = {
  'An operation': ['an operation'],
  'A fact': ['a fact', 'a fact that clients see from now on'],
  'What an agent yields': ['an update of an agent', 'what an update records besides'],
  'A filter of lists': [
    'a filter of lists in requests',
    'a filter of lists in stores',
    'a filter of lists in the search of operators',
  ],
  'A filter by words': ['what every database has to search in a way of its own'],
};

/** The files that the paragraph that begins with these words names. */
function placesOf(way: string): readonly string[] {
  const contributing = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const [, paragraph = ''] = new RegExp(`^(${way} is [\\s\\S]*?)\\n\\n(?![-])`, 'm').exec(contributing) ?? [];
  return Array.from(paragraph.matchAll(/`([\w./-]+\.ts)`/g), ([, path]) => path!);
}

let copy: CopiedSources;
let missed: (name: string) => readonly string[];
beforeAll(async () => {
  const places = Object.values(additions).flatMap((addition) => addition.places);
  const jsx = { jsx: 'react-jsx', jsxImportSource: 'preact', lib: ['ES2023', 'DOM'] };
  copy = new CopiedSources(places, { ...jsx, noErrorTruncation: true });
  for (const { file, edit } of Object.values(additions)) copy.edit(file, ...edit);
  const { output } = await copy.compile();
  const errors = Array.from(output.matchAll(/^(\S+)\(\d+,\d+\): error (.*)/gm), ([, file, text]) => ({
    file,
    text,
  }));
  missed = (name) =>
    errors.flatMap(({ file, text }) => (new RegExp(`\\b(${name})\\b`).test(text!) ? [file!] : []));
}, 300_000);
afterAll(() => copy.remove());

describe('the compiler misses', () => {
  it.each(Object.entries(additions))('%s that was forgotten, in each place', (_, { name, places }) => {
    expect(missed(name)).toEqual(expect.arrayContaining([...places]));
  });
});

describe('CONTRIBUTING names', () => {
  it.each(Object.entries(ways))('each place of "%s"', (way, kinds) => {
    const places = kinds.flatMap((kind) => [additions[kind]!.file, ...additions[kind]!.places]);
    expect(placesOf(way)).toEqual(expect.arrayContaining(places));
  });
});
