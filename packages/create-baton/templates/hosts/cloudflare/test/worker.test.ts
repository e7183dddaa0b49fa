import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '@batonjs/client';
import { createTestHarness } from 'wrangler';

test('the object answers, and keeps the task', async (context) => {
  const harness = createTestHarness({ workers: [{ configPath: 'wrangler.jsonc' }] });
  context.after(() => harness.close());
  const { url } = await harness.listen();
  const client = await connect(url);
  const { task } = await client.send('3 boxes');
  assert.doesNotMatch(task!.status.state, /SUBMITTED|WORKING/);
  const kept = await client.getTask({ id: task!.id });
  assert.equal(kept.status.state, task!.status.state);
});
