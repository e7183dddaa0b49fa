import { createServer, type RequestListener } from 'node:http';
import { createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { listen } from '../kit/listen.ts';
import { checkRecipe } from './checks.ts';
import { agent, options, path } from './echo.ts';
import { recipes } from './recipes.ts';

describe.each(recipes)('%s', (_name, recipe) => {
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
