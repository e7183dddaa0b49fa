import { expect, it, vi } from 'vitest';
import { serve } from '../../../../../test/kit/serve.ts';
import { type AgentServerOptions, reply } from '../../../src/index.ts';

function observed(options: Partial<AgentServerOptions> = {}) {
  const logger = vi.fn();
  return { server: serve(() => reply('Found'), { logger, ...options }), logger };
}

const paths = ['/agents/lost/.well-known/agent-card.json', '/agents/lost', '/agents/lost/x/message:send'];

it.each(paths)('`server.fetch` without `publicUrl` names the missing option at %s', async (path) => {
  const { server, logger } = observed();
  const call = (method: string) => server.fetch(new Request(`http://localhost${path}`, { method }));
  for (const method of ['GET', 'POST']) {
    const response = await call(method);
    expect(response.status).toBe(404);
    expect((await response.json()).error.message).toBe(
      `Method not found: nothing is at ${path}; \`server.fetch\` below a path needs a \`publicUrl\` with that path`,
    );
  }
  expect(logger.mock.calls).toEqual([
    ['warn', expect.stringContaining('needs a `publicUrl` with that path'), { path }],
  ]);
});

it('`server.fetch` with the path in `publicUrl` is found, and says nothing of it elsewhere', async () => {
  const { server, logger } = observed({ publicUrl: 'https://agents.example/agents/lost' });
  const card = await server.fetch(new Request(`http://localhost${paths[0]}`));
  expect(card.status).toBe(200);
  const headers = { 'a2a-version': '1.0' };
  const nothing = await server.fetch(new Request('http://localhost/agents/lost/nothing', { headers }));
  expect((await nothing.json()).error.message).toBe('Method not found');
  expect(logger).not.toHaveBeenCalled();
});

it.each(['/.well-known/agent.json', '/health', '/message/send'])(
  'says at %s where the card is, to a sender that names no version',
  async (path) => {
    const { server } = observed({ publicUrl: 'https://agents.example/a' });
    for (const method of ['GET', 'POST']) {
      const ask = (headers = {}) =>
        server.fetch(new Request(`https://agents.example/a${path}`, { method, headers }));
      const stray = await ask();
      expect([stray.status, (await stray.json()).error.message]).toEqual([
        404,
        `Method not found: nothing is at this path; the card of the agent is at /.well-known/agent-card.json`,
      ]);
      expect((await (await ask({ 'a2a-version': '0.3' })).json()).error.message).toMatch(/0\.3/);
    }
  },
);

it('callers without credentials learn nothing of it', async () => {
  const { server } = observed({ authenticate: () => undefined });
  const response = await server.fetch(new Request(`http://localhost${paths[1]}`));
  expect(response.status).toBe(401);
});
