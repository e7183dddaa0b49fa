import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../kit/listen.ts';
import type { Canaries } from './canaries.ts';

/** How the agent fails: all of them say what they were sent. */
export type Failure = 'refuses' | 'breaks' | 'says an error' | 'talks nonsense';

/** The credentials of all kinds that its card asks for; only one of them is needed. */
const securitySchemes = {
  bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
  header: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
  query: { apiKeySecurityScheme: { location: 'query', name: 'key' } },
  cookie: { apiKeySecurityScheme: { location: 'cookie', name: 'key' } },
};

/** An agent that is broken, and repeats all that it was sent in its errors: as it is, and also in Base64. */
export async function serveEchoing(
  secrets: Canaries,
  scheme: keyof typeof securitySchemes,
  { inBase64 = true } = {},
): Promise<{ url: string; fail: Failure }> {
  const state = { url: '', fail: 'refuses' as Failure };
  const cardOf = () => ({
    name: 'Echo',
    description: 'Repeats what it was sent',
    version: '1',
    supportedInterfaces: [{ url: `${state.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true, pushNotifications: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'one', name: 'One', description: 'Does it', tags: [] }],
    securitySchemes: { [scheme]: securitySchemes[scheme] },
    securityRequirements: [{ schemes: { [scheme]: { list: [] } } }],
  });
  const said = (request: IncomingMessage, body: string) => {
    const sent = `${request.url} ${JSON.stringify(request.headers)} ${body}`;
    secrets.arrive(sent);
    return inBase64
      ? `${sent} ${Buffer.from(String(request.headers.authorization)).toString('base64')}`
      : sent;
  };
  state.url = await listen(
    createServer(async (request, response) => {
      const body = await text(request);
      const echo = said(request, body);
      response.setHeader('content-type', 'application/json');
      if (request.method === 'GET' && request.url?.includes('agent-card'))
        return response.end(JSON.stringify(cardOf()));
      const failing = { refuses: 401, breaks: 500, 'says an error': 200, 'talks nonsense': 200 }[state.fail];
      response.statusCode = failing;
      if (state.fail === 'talks nonsense') return response.end(`Nonsense: ${echo}`);
      const { id = null } = Object(body.startsWith('{') ? JSON.parse(body) : {}) as { id?: unknown };
      const error = { code: -32_603, message: echo, data: [{ echo }] };
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
    }),
  );
  return state;
}
