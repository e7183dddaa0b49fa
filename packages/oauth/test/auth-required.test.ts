import { connect, textOf } from '@batonjs/client';
import { authRequired, completed, createAgentServer, type Turn } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  discovery,
  None,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { expect, it, onTestFinished } from 'vitest';
import { listen as listenForRedirects } from '../../../test/kit/listen.ts';
import { audience } from './agent.ts';
import { startAuthorizationServer } from './authorization-server.ts';

/** An agent that needs an authorization of the person at a service, whose redirect comes to the agent. */
async function calendar(issuer: string) {
  const started = new Map<string, { readonly wakeKey: string; readonly verifier: string }>();
  const tokens = new Map<string, string>();
  const service = await discovery(new URL(issuer), 'program', undefined, None(), {
    execute: [allowInsecureRequests],
  });
  const redirects = await listenForRedirects((request, response) => {
    finish(new URL(request.url ?? '/', redirects)).then(
      () => response.end('You can go back to your chat'),
      () => response.writeHead(400).end(),
    );
  });

  async function begin({ wakeKey }: Turn): Promise<URL> {
    const state = randomState();
    const verifier = randomPKCECodeVerifier();
    started.set(state, { wakeKey, verifier });
    return buildAuthorizationUrl(service, {
      redirect_uri: `${redirects}/callback`,
      scope: 'read',
      state,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
  }

  async function finish(url: URL): Promise<void> {
    const expectedState = url.searchParams.get('state') ?? '';
    const { wakeKey, verifier } = started.get(expectedState)!;
    started.delete(expectedState);
    const answer = await authorizationCodeGrant(service, url, { pkceCodeVerifier: verifier, expectedState });
    tokens.set(wakeKey, answer.access_token);
    await server.wake(wakeKey);
  }

  const server = createAgentServer({
    card: { name: 'Calendar', description: 'Reads a calendar' },
    async *agent(turn) {
      const token = tokens.get(turn.wakeKey);
      if (token) yield completed(`The calendar of ${subjectOf(token)}`);
      else yield authRequired(`Please allow access: ${await begin(turn)}`);
    },
    store: memoryStore(),
    logger: () => {},
  });
  const listener = await listen(server, { port: 0 });
  onTestFinished(() => listener.close());
  return { url: listener.url, tokens };
}

it('a task in AUTH_REQUIRED goes on without a message once the person has allowed access at the service [R-STATE-05] [R-STATE-14] [R-STATE-15] [R-STATE-16]', async () => {
  const id = await startAuthorizationServer(audience);
  onTestFinished(() => id.close());
  const { url, tokens } = await calendar(id.issuer);
  const agent = await connect(url);
  const { task } = await agent.send('What is next?');
  expect(task?.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
  const asked = textOf(task?.status.message);

  // The client without a stream subscribes, and only then the person clicks.
  const states: string[] = [];
  let opened: Promise<Response> | undefined;
  const stream = agent.follow(task!);
  for await (const { task: whole, statusUpdate } of stream) {
    const status = whole?.status ?? statusUpdate?.status;
    if (status) states.push(status.state);
    opened ??= id.browse(asked.slice(asked.indexOf('http'))).then(fetch);
  }
  expect((await opened)?.status).toBe(200);
  expect(states[0]).toBe('TASK_STATE_AUTH_REQUIRED');
  expect(states.at(-1)).toBe('TASK_STATE_COMPLETED');
  expect(textOf(stream.task?.status.message)).toBe('The calendar of ada');

  const [[wakeKey, token] = []] = [...tokens];
  const seen = JSON.stringify(await agent.getTask({ id: task!.id }));
  expect(seen).not.toContain(token);
  expect(seen).not.toContain(wakeKey);
});

it('a message to a task in AUTH_REQUIRED does not stand for the authorization [R-STATE-15] [R-STATE-17]', async () => {
  const id = await startAuthorizationServer(audience);
  onTestFinished(() => id.close());
  const { url } = await calendar(id.issuer);
  const agent = await connect(url);
  const { task } = await agent.send('What is next?');
  const again = await agent.send('I have allowed it, believe me', { task: task! });
  expect(again.task?.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
});

/** Whose token it is. */
const subjectOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sub as string;
