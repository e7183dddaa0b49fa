import { join } from 'node:path';
import { type AgentServerOptions, createAgentServer } from '@batonjs/server';
import { sqliteStore } from '@batonjs/store-sqlite';
import { onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';

/** A server named `used` on a file of its own, both closed when the test is over. */
export function usedStore({
  textSearch,
  ...more
}: Pick<AgentServerOptions, 'agent' | 'authenticate'> & { textSearch?: boolean }) {
  const file = join(temporaryFolder(), 'tasks.db');
  const store = sqliteStore(file, { ...(textSearch !== undefined && { textSearch }) });
  onTestFinished(() => store.close());
  const card = { name: 'Used', description: 'Is used' };
  const server = closedAfterTest(createAgentServer({ card, name: 'used', store, logger: () => {}, ...more }));
  return { file, store, server };
}
