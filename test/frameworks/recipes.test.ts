import { createServer, type RequestListener } from 'node:http';
import { createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { listen } from '../kit/listen.ts';
import { repetitions } from '../kit/repetitions.ts';
import { checkRecipe } from './checks.ts';
import { agent, options, path } from './echo.ts';
import { recipes } from './recipes.ts';

// The build of SvelteKit takes as long as all others together.
const tried = recipes.filter(([name]) => name !== 'SvelteKit' || repetitions(0, 1));

describe.each(tried)('%s', (_name, recipe) => {
  checkRecipe(async () => {
    let listener: RequestListener = () => {};
    const origin = await listen(createServer((request, response) => listener(request, response)));
    const card = { name: 'Echo', description: 'Says it again' };
    const publicUrl = `${origin}${path}`;
    const server = closedAfterTest(
      createAgentServer({ card, agent, store: memoryStore(), publicUrl, ...options }),
    );
    listener = await recipe(server);
    return { origin, load: async () => server.load };
  });
});
