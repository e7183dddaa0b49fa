import { createServer } from 'node:http';
import { type CatalogOptions, catalogOf } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { expect, it } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { keepToken } from '../src/settings/settings.ts';
import { serveMany } from './agents.ts';
import { cli } from './cli.ts';

const agents = [
  { name: 'expenses', url: '/agents/expenses', description: 'Pays what it is told' },
  { name: 'weather', url: 'https://weather.example/a2a' },
];
const serveCatalog = (options?: CatalogOptions) =>
  listen(createServer(nodeHandler(catalogOf(agents, options))));

it('`agents` lists the agents of a host by name, description and card', async () => {
  const host = await serveCatalog();
  const card = `${host}/agents/expenses/.well-known/agent-card.json`;
  const other = 'https://weather.example/a2a/.well-known/agent-card.json';
  expect((await cli(`agents ${new URL(host).host}`)).stdout).toBe(
    `Agent: expenses\nDescription: Pays what it is told\nCard: ${card}\nAgent: weather\nCard: ${other}\nAgents: 2\n`,
  );
  expect((await cli(`agents ${host} -o json`)).json).toEqual({
    agents: [
      { name: 'expenses', description: 'Pays what it is told', card },
      { name: 'weather', card: other },
    ],
  });
});

it('`agents` brings credentials, also of `auth login`, to the host, warns where they can be read, and says that they are missing', async () => {
  const host = await serveCatalog({
    authenticate: ({ headers }) => (headers.authorization === 'Bearer key' ? { scope: 'a' } : undefined),
  });
  const { code, stdout, stderr } = await cli(`agents ${host} --bearer key`);
  expect([code, stdout]).toEqual([0, expect.stringContaining('Agents: 2')]);
  expect(stderr).toContain('A CREDENTIAL IS SENT OVER A CONNECTION THAT IS NOT VERIFIED');
  const home = temporaryFolder();
  keepToken(home, host, { accessToken: 'key' });
  expect((await cli(`agents ${host}`, { home })).stdout).toContain('Agents: 2');
  const refused = await cli(`agents ${host} -o json`);
  expect([refused.code, refused.json.error]).toMatchObject([4, { code: 'A2ACLI_ERR_CREDENTIALS_MISSING' }]);
});

it('`agents` says what to do with a host that lists none, or is not there', async () => {
  const agent = await serveMany();
  const none = await cli(`agents ${agent} -o json`);
  expect([none.code, none.json.error]).toMatchObject([
    3,
    {
      code: 'A2ACLI_ERR_CARD_NOT_FOUND',
      message: expect.stringMatching(/ai-catalog\.json answers 404 with .* and is no AI Catalog$/),
      hint: `If it is one agent without a catalog: card get -a ${agent}`,
    },
  ]);
  expect((await cli('agents 127.0.0.1:1 -o json')).json.error.code).toBe('A2ACLI_ERR_UNREACHABLE');
  expect((await cli('agents')).stderr).toContain("missing required argument 'host'");
});
