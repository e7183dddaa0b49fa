import { it } from 'vitest';
import { expectLeanStart } from '../../../test/support/loaded-modules.ts';

it('listens without what importing node:http and node:util would load: fetch, HTTP/2, worker threads', async () => {
  const program = `
    const { createAgentServer } = await import('@batonjs/server');
    const { listen } = await import('@batonjs/server-node');
    const { memoryStore } = await import('@batonjs/store-memory');
    const card = { name: 'Echo', description: 'Echoes' };
    await (await listen(createAgentServer({ card, agent: async () => 'hi', store: memoryStore() }))).close()`;
  await expectLeanStart(program, import.meta.dirname);
});
