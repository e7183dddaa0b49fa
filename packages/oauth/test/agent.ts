import { bearerJwt } from '@batonjs/auth';
import { type AgentReply, type ConnectOptions, connect, textOf } from '@batonjs/client';
import type { AgentSkill, SecurityScheme } from '@batonjs/protocol';
import { A2AError, type Agent, type AgentServerOptions, completed, createAgentServer } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { onTestFinished } from 'vitest';

export const audience = 'https://agent.example';

/** The flows of a server in a card. */
export const schemes = (issuer: string) =>
  ({
    machine: {
      oauth2SecurityScheme: {
        flows: {
          clientCredentials: { tokenUrl: `${issuer}/token`, scopes: { read: 'Read', write: 'Write' } },
        },
      },
    },
    person: {
      oauth2SecurityScheme: {
        flows: {
          authorizationCode: {
            authorizationUrl: `${issuer}/auth`,
            tokenUrl: `${issuer}/token`,
            scopes: { read: 'Read', write: 'Write' },
            pkceRequired: true,
          },
        },
      },
    },
    device: {
      oauth2SecurityScheme: {
        flows: {
          deviceCode: {
            deviceAuthorizationUrl: `${issuer}/device/auth`,
            tokenUrl: `${issuer}/token`,
            scopes: { read: 'Read', write: 'Write' },
          },
        },
        oauth2MetadataUrl: `${issuer}/.well-known/oauth-authorization-server`,
      },
    },
    login: {
      openIdConnectSecurityScheme: { openIdConnectUrl: `${issuer}/.well-known/openid-configuration` },
    },
  }) satisfies Record<string, SecurityScheme>;

export interface GuardedOptions extends Partial<Omit<AgentServerOptions, 'agent'>> {
  readonly issuer: string;
  /** The name of the scheme in the card. */
  readonly scheme: keyof ReturnType<typeof schemes>;
  /** Scopes of every call. */
  readonly scopes?: readonly string[];
  readonly skills?: readonly AgentSkill[];
  readonly agent?: Agent;
}

/** A server that verifies tokens with the keys of the issuer, and a client that reaches it without a network. */
export function guardedAgent({
  issuer,
  scheme,
  scopes = ['read'],
  skills = [],
  agent,
  ...more
}: GuardedOptions) {
  const seen: (string | undefined)[] = [];
  const revoked = new Set<string | undefined>();
  const verify = bearerJwt({
    issuer,
    audience,
    jwks: new URL(`${issuer}/jwks`),
    scopes,
    name: scheme,
    scheme: schemes(issuer)[scheme],
  });
  const authenticate = Object.assign(
    async (request: Parameters<typeof verify>[0]) => {
      seen.push(request.headers.authorization?.slice(7));
      if (revoked.has(request.headers.authorization?.slice(7)))
        throw new A2AError('UNAUTHENTICATED', 'The token was revoked', {
          challenge: 'Bearer error="invalid_token"',
        });
      return verify(request);
    },
    { securitySchemes: verify.securitySchemes, securityRequirements: verify.securityRequirements },
  );
  const server = createAgentServer({
    agent:
      agent ??
      async function* ({ caller }) {
        yield completed(`Hello, ${caller.sub}`);
      },
    authenticate,
    store: memoryStore(),
    logger: () => {},
    ...more,
    card: {
      name: 'Guarded',
      description: 'For tests',
      skills: [...skills],
      skillOf: ({ metadata }) => metadata?.skill as string | undefined,
      ...more.card,
    },
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const url = 'http://localhost';
  const fetchAgent = (request: Request) => server.fetch(request);
  return {
    server,
    seen,
    revoked,
    connect: (options: ConnectOptions) => connect(url, { fetch: fetchAgent, retry: false, ...options }),
  };
}

/** The text that a task ends with. */
export const textIn = ({ task }: AgentReply) => textOf(task?.status.message);

/** The error that a promise rejects with. */
// biome-ignore lint/suspicious/noExplicitAny: tests read errors with matchers
export const failureOf = (promise: Promise<unknown>): Promise<any> =>
  promise.then(
    () => {
      throw new Error('It did not fail');
    },
    (error) => error,
  );
