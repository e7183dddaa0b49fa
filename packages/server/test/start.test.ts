import { it } from 'vitest';
import { expectLeanStart } from '../../../test/support/loaded-modules.ts';

it('starts without what importing node:http and node:util would load: fetch, HTTP/2, worker threads', async () => {
  const program = `
    const { createAgentServer } = await import('@batonjs/server');
    const { memoryStore } = await import('@batonjs/store-memory');
    createAgentServer({ card: { name: 'Echo', description: 'Echoes' }, agent: async () => 'hi', store: memoryStore() })`;
  await expectLeanStart(program, import.meta.dirname);
});
