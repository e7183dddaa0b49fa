import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect } from '@batonjs/client';
import { oauth } from '@batonjs/oauth';
import { fileTokenStore } from '@batonjs/oauth/file-token-store';
import { reply } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { clientTelemetry } from '@batonjs/telemetry';
import { expect, it } from 'vitest';
import { observed } from '../../packages/telemetry/test/observed.ts';
import { listen } from '../kit/listen.ts';
import { serve } from '../kit/serve.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { canaries } from './canaries.ts';

const json = { 'content-type': 'application/json' };

it.each([
  [
    'refuses and repeats',
    (sent: string) =>
      new Response(JSON.stringify({ error: 'invalid_grant', error_description: sent }), {
        status: 400,
        headers: json,
      }),
  ],
  ['breaks and repeats', (sent: string) => new Response(`It broke: ${sent}`, { status: 500 })],
  [
    'answers nonsense with',
    (sent: string) => new Response(JSON.stringify({ access_token: { sent } }), { headers: json }),
  ],
])('no token leaves a client whose authorization server %s what it was sent', async (_, fail) => {
  const secrets = canaries();
  const { providers, spans, metrics } = observed();
  const folder = join(temporaryFolder(), 'tokens');
  const access = secrets.plant('access token');
  const refresh = secrets.plant('refresh token');
  const clientSecret = secrets.plant('client secret');
  const code = secrets.plant('authorization code');
  let isFailing = false;
  const issuer = await listen(async (request, response) => {
    const body = await text(request);
    const sent = `${decodeURIComponent(body)} ${decodeURIComponent(Buffer.from(String(request.headers.authorization).slice(6), 'base64').toString())}`;
    secrets.arrive(sent);
    const tokens = { access_token: access, token_type: 'Bearer', refresh_token: refresh, expires_in: 60 };
    const answer = isFailing ? fail(sent) : Response.json(tokens);
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  });
  const flows = {
    authorizationCode: {
      authorizationUrl: `${issuer}/auth`,
      tokenUrl: `${issuer}/token`,
      scopes: { read: 'Read' },
    },
  };
  const authenticate = Object.assign(
    ({ headers }: { headers: Record<string, string | undefined> }) => {
      secrets.arrive(String(headers.authorization));
      return headers.authorization && !isFailing ? { scope: 'someone' } : undefined;
    },
    {
      securitySchemes: { o: { oauth2SecurityScheme: { flows } } },
      securityRequirements: [{ schemes: { o: { list: ['read'] } } }],
    },
  );
  const server = serve(() => reply('Hello'), {
    authenticate,
    logger: (...line) => secrets.leave('the log of the agent', line),
  });
  const url = await listen(nodeHandler(server));
  const credentials = oauth({
    clients: { [`${issuer}/token`]: { clientId: 'tool', clientSecret } },
    authorize: async (begin) => {
      const asked = await begin('http://127.0.0.1/callback');
      const back = new URL('http://127.0.0.1/callback');
      back.search = `${new URLSearchParams({ code, state: asked.searchParams.get('state') ?? '' })}`;
      return back;
    },
    store: fileTokenStore(folder),
  });
  const agent = await connect(url, { credentials, retry: false, telemetry: clientTelemetry(providers) });
  expect(await agent.send('Hello')).toMatchObject({ message: {} });
  const files = readdirSync(folder).map((name) => join(folder, name));
  for (const file of files) secrets.leave('the file of the user', readFileSync(file));
  // Tokens are kept for the user alone.
  expect(files.map((file) => statSync(file).mode & 0o077)).toEqual([0]);
  isFailing = true;
  for (let times = 0; times < 2; times += 1)
    secrets.leave(
      'an error',
      await agent.send('Hello').then(
        () => expect.unreachable('It has no token'),
        (error: unknown) => error,
      ),
    );
  for (const { name, attributes, events, status } of spans())
    secrets.leave('a span', { name, attributes, events, status });
  secrets.leave('metrics', await metrics());
  secrets.check(['access token in the file of the user', 'refresh token in the file of the user']);
});
