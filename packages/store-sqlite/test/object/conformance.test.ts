import { pushConfigChecks, taskStoreChecks } from '@batonjs/store-conformance/checks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repetitions } from '../../../../test/kit/repetitions.ts';
import { startWorkerd } from '../../../../test/runtimes/workerd-process.ts';

let workerd: Awaited<ReturnType<typeof startWorkerd>>;
beforeAll(async () => {
  const module = new URL('./checks-worker.ts', import.meta.url);
  // The checks import `node:assert`. The store imports nothing of Node.js: test/repository/bundle.test.ts.
  workerd = await startWorkerd({ module, classes: { Subject: 'Subject' }, node: true });
});
afterAll(() => workerd[Symbol.asyncDispose]());

const ports = { tasks: taskStoreChecks, webhooks: pushConfigChecks };

describe.each(Object.entries(ports))('durableObjectStore in workerd keeps %s', (port, checks) => {
  it.each(checks.map(({ section, title }, n) => ({ n, name: `${section} ${title}` })))(
    '$name',
    async ({ n }) => {
      const search = `port=${port}&check=${n}&runs=${repetitions(10, 100)}`;
      // workerd closes a connection that was idle for a while, perhaps just when the next request is sent on it.
      const answer = await fetch(`${workerd.url}/?${search}`, { headers: { connection: 'close' } });
      expect(await answer.text(), workerd.output).toBe('');
      expect(answer.status).toBe(200);
    },
  );
});
