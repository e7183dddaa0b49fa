import { expect, it } from 'vitest';
import { judge, rowsOf, written } from '../../scripts/works-with/rows.ts';
import { readText } from '../repository/source-files.ts';

const page = `# Works with\n\n## In the tests
They passed on 2026-01-01.
| software | it is run as | test | passed |
| --- | --- | --- | ---: |
| \`one\` 1 | a client | [a](../../test/a.test.ts), [b](../../packages/x/test/b.test.ts) | |
| \`two\` 2 | a server | [a](../../test/a.test.ts), [c](../../test/large/c.test.ts) | 7 |
\n## By hand\n| \`three\` 3 | nothing | [d](../../test/d.test.ts) |`;
const ran = (name: string, ...statuses: string[]) => ({
  name: `/root/${name}`,
  assertionResults: statuses.map((status) => ({ ancestorTitles: [], title: '', status })),
});
const reported = (...testResults: ReturnType<typeof ran>[]) => judge(rowsOf(page), { testResults }, '/root');

it('a row is shown by the tests that passed of the files that it names', () => {
  expect(rowsOf(page).map(({ tests }) => tests)).toEqual([
    ['test/a.test.ts', 'packages/x/test/b.test.ts'],
    ['test/a.test.ts'],
  ]);
  const b = ran('packages/x/test/b.test.ts', 'passed');
  expect(reported(ran('test/a.test.ts', 'passed', 'passed', 'skipped'), b)).toEqual({
    passed: [
      { software: '`one` 1', count: 3 },
      { software: '`two` 2', count: 2 },
    ],
    problems: [],
  });
  expect(reported(ran('test/a.test.ts', 'passed', 'failed'), b).problems).toEqual([
    '`one` 1: 1 tests of test/a.test.ts failed',
    '`two` 2: 1 tests of test/a.test.ts failed',
  ]);
  for (const none of [[ran('test/a.test.ts', 'skipped'), b], [b]])
    expect(reported(...none).problems).toContain('`one` 1: test/a.test.ts ran no test');
});

it('a run writes its numbers into its own table', () => {
  const passed = [3, 0].map((count) => ({ software: '', count }));
  const now = written(page, passed, '2026-11-30').split('\n');
  const before = page.split('\n');
  expect(now.filter((line, n) => line !== before[n])).toEqual([
    'They passed on 2026-11-30.',
    expect.stringMatching(/b\.test\.ts\) \| 3 \|$/),
    expect.stringMatching(/c\.test\.ts\) \| by night \|$/),
  ]);
});

it('the rows of the page name what an agent meets: SDK, chats, AG-UI, MCP and frameworks', () => {
  const rows = rowsOf(readText('docs/start/works-with.md'));
  const files = rows.flatMap(({ tests }) => tests).join(' ');
  for (const of of [
    'sdk-client',
    'sdk-server',
    'official-sdk',
    'use-chat',
    'ag-ui',
    'conformance',
    'express-4',
  ])
    expect(files).toContain(of);
});
