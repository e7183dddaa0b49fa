import { afterAll, beforeAll, expect, it } from 'vitest';
import { oauth, type StoredToken } from '../src/index.ts';
import { audience, guardedAgent } from './agent.ts';
import { type AuthorizationServer, startAuthorizationServer } from './authorization-server.ts';

let id: AuthorizationServer;
beforeAll(async () => {
  id = await startAuthorizationServer(audience, { more: { rotateRefreshToken: false } });
});
afterAll(() => id.close());

it('a refresh token serves again where the authorization server gives no other one', async () => {
  const clock = { ms: Date.now() };
  const store = new Map<string, StoredToken>();
  const credentials = oauth({
    clients: { [id.issuer]: { clientId: 'program' } },
    authorize: async (begin) => id.browse(await begin('http://127.0.0.1/callback')),
    store,
    now: () => clock.ms,
    /** Answers of a refresh without a refresh token. RFC 6749 §6 allows that. */
    async fetch(request) {
      const asked = request.url.endsWith('/token') ? await request.clone().text() : '';
      const response = await fetch(request);
      if (!asked.includes('grant_type=refresh_token')) return response;
      const { refresh_token: _, ...rest } = (await response.json()) as Record<string, unknown>;
      return Response.json(rest, response);
    },
  });
  id.asked.length = 0;
  const agent = await guardedAgent({ issuer: id.issuer, scheme: 'person' }).connect({ credentials });
  await agent.listTasks();
  const [first] = store.values();
  for (let round = 0; round < 3; round += 1) {
    clock.ms += 3_600_000;
    await agent.listTasks();
    const [token] = store.values();
    expect(token?.refreshToken).toBe(first!.refreshToken);
    expect(token?.accessToken).not.toBe(first!.accessToken);
  }
  expect(id.asked.filter((path) => path === 'GET /auth')).toHaveLength(1);
});
