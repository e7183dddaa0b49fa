import { createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { agent, options } from '../../echo.ts';

// `next build` loads this module too, where no address is known.
export const echo = createAgentServer({
  card: { name: 'Echo', description: 'Says it again' },
  agent,
  store: memoryStore(),
  publicUrl: process.env.PUBLIC_URL,
  ...options,
});
