import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import type { AgentCard } from '@batonjs/protocol';
import { listen } from '../../../test/kit/listen.ts';

/** A request that an agent received. */
export interface Seen {
  readonly headers: IncomingHttpHeaders;
  readonly url: string;
}

/** Members of a card, or what they are at the URL of the agent. */
export type CardOf = Partial<AgentCard> | ((url: string) => Partial<AgentCard>);

const cardText = (url: string, card: CardOf): string =>
  JSON.stringify({
    name: 'Secured',
    description: 'Asks who calls',
    version: '1',
    supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    ...(typeof card === 'function' ? card(url) : card),
  });

/** An agent over JSON-RPC with these security schemes. Answers with a message, or with the status of `refuse`. */
export async function serveSecured(card: CardOf, refuse?: number) {
  const seen: Seen[] = [];
  const cardReads: Seen[] = [];
  const url = await listen(
    createServer(async (request, response) => {
      const body = await text(request);
      const { headers, url: path = '' } = request;
      response.setHeader('content-type', 'application/json');
      if (request.method === 'GET') {
        cardReads.push({ headers, url: path });
        return response.end(cardText(url, card));
      }
      seen.push({ headers, url: path });
      if (refuse) return response.writeHead(refuse).end('{}');
      const result = { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'ok' }] } };
      response.end(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body).id, result }));
    }),
  );
  return { url, seen, cardReads };
}

/** A card that requires one scheme. */
export const requires = (name: string, scheme: unknown) =>
  ({
    securitySchemes: { [name]: scheme },
    securityRequirements: [{ schemes: { [name]: { list: [] } } }],
  }) as unknown as Partial<AgentCard>;

/**
 * An authorization server that lets a device in at the third question, and never at `/pending`. With a card it serves that
 * of an agent too.
 */
export async function serveAuthorization(card?: CardOf) {
  const forms: Record<string, string>[] = [];
  const url = await listen(
    createServer(async (request, response) => {
      if (card && request.url === '/.well-known/agent-card.json') return response.end(cardText(url, card));
      const form = Object.fromEntries(new URLSearchParams(await text(request)));
      const { authorization = '' } = request.headers;
      forms.push({ path: request.url ?? '', authorization, ...form });
      response.setHeader('content-type', 'application/json');
      const reply = (value: unknown) => response.end(JSON.stringify(value));
      if (request.url === '/.well-known/openid-configuration')
        return reply({
          issuer: url,
          token_endpoint: `${url}/token`,
          device_authorization_endpoint: `${url}/device`,
        });
      if (request.url === '/device')
        return reply({
          device_code: 'd1',
          user_code: 'ABCD',
          verification_uri: 'https://login.example/device',
          interval: 0.01,
          expires_in: 60,
        });
      const basic = Buffer.from(authorization.slice(6), 'base64').toString();
      if (basic.endsWith(':wrong')) {
        response.statusCode = 401;
        return reply({ error: 'invalid_client' });
      }
      const isPending = request.url === '/pending';
      if (isPending || (form.device_code && forms.filter(({ device_code }) => device_code).length < 3)) {
        response.statusCode = 400;
        return reply({ error: 'authorization_pending' });
      }
      reply({ access_token: 'from-login', expires_in: 3600, token_type: 'Bearer' });
    }),
  );
  return { url, forms };
}

/** A card that requires a token of these flows. */
export const oauth = (flows: unknown) => requires('o', { oauth2SecurityScheme: { flows } });
