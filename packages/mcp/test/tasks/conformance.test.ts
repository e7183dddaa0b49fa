import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { node } from '../../../../test/kit/processes.ts';
import { repetitions } from '../../../../test/kit/repetitions.ts';
import { serveAgent, serveMcp } from '../clients.ts';
import { conformanceAgent } from './conformance-agent.ts';

const root = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json');
const program = join(dirname(root), 'dist/index.js');

/** Checks that no agent of A2A can pass: it ends with no error of JSON-RPC, and asks one question at a time. */
const withoutForm = ['TasksProtocolErrorFailedShape', 'TasksMRTRPartialFulfillment'];

/** The official scenarios, and how many of their checks pass. Those that stand first run in every test run. */
const scenarios: readonly (readonly [name: string, passed: number])[] = [
  ['tasks-dispatch-and-envelope', 9],
  ['tasks-mrtr-input', 3],
  ['tasks-lifecycle', 8],
  ['tasks-request-headers', 5],
  ['tasks-capability-negotiation', 5],
  ['tasks-wire-fields', 4],
  ['tasks-request-state-removal', 3],
  ['tasks-required-task-error', 3],
  ['tasks-mrtr-composition', 2],
  ['tasks-status-notifications', 0],
];

interface Check {
  readonly name: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'SKIPPED' | 'WARNING' | 'INFO';
}

it('[R-MT-80, R-MT-81, R-MT-82, R-MT-83] the official scenarios for tasks pass', async () => {
  const { agent } = await serveAgent(conformanceAgent());
  const { url } = await serveMcp(agent, {
    waitMs: 800,
    tasks: {
      tools: {
        greet: 'forbidden',
        slow_compute: 'immediate',
        failing_job: 'required',
        confirm_delete: 'immediate',
        test_tool_with_task: 'deferred',
      },
    },
  });
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const chosen = scenarios.slice(0, repetitions(2, scenarios.length));
  const results = await Promise.all(
    chosen.map(async ([scenario]) => {
      const output = join(folder, scenario);
      const args = [
        'server',
        '--url',
        new URL('/mcp', url).href,
        '--scenario',
        scenario,
        '-o',
        output,
        '--timeout',
        '120000',
      ];
      // It exits with 1 for a check that fails: the checks say more.
      await promisify(execFile)(node, [program, ...args]).catch(() => {});
      const checks = readdirSync(output, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('checks.json'))
        .flatMap((file) => JSON.parse(readFileSync(join(output, file), 'utf8')) as Check[]);
      const failed = checks.filter(({ status, name }) => status === 'FAILURE' && !withoutForm.includes(name));
      return [scenario, checks.filter(({ status }) => status === 'SUCCESS').length, failed];
    }),
  );
  expect(results).toEqual(chosen.map(([scenario, passed]) => [scenario, passed, []]));
});
