import type { AgentCard } from '@batonjs/protocol';

/** A card with every kind of member, none of the required ones empty. */
export const fullCard: AgentCard = {
  name: 'Ledger',
  description: 'Keeps books — “exactly”',
  supportedInterfaces: [
    { url: 'https://ledger.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'acme' },
    { url: 'https://ledger.example/a2a', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  ],
  provider: { url: 'https://example.com', organization: 'Example' },
  version: '2.1.0',
  documentationUrl: 'https://example.com/docs',
  capabilities: {
    streaming: true,
    pushNotifications: false,
    extensions: [
      {
        uri: 'https://example.com/x/v1',
        required: true,
        params: { limit: 1e21, list: [1, 'two', true] },
      },
      { uri: 'https://example.com/y/v1', description: 'Y' },
    ],
  },
  securitySchemes: {
    oauth: {
      oauth2SecurityScheme: {
        flows: {
          authorizationCode: {
            authorizationUrl: 'https://id.example/authorize',
            tokenUrl: 'https://id.example/token',
            scopes: { read: 'Read books', write: 'Write books' },
            pkceRequired: true,
          },
        },
      },
    },
    key: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } },
  },
  securityRequirements: [{ schemes: { oauth: { list: ['read'] } } }, { schemes: { key: { list: ['any'] } } }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['application/json'],
  skills: [
    {
      id: 'post',
      name: 'Post',
      description: 'Posts an entry',
      tags: ['books'],
      examples: ['Post 10 € to rent'],
      securityRequirements: [{ schemes: { oauth: { list: ['write'] } } }],
    },
  ],
  iconUrl: 'https://example.com/icon.png',
};

/** A card whose required members are as empty as the specification allows. */
export const bareCard: AgentCard = {
  name: 'Bare',
  description: '',
  supportedInterfaces: [{ url: 'https://bare.example', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  version: '1.0.0',
  capabilities: {},
  defaultInputModes: [],
  defaultOutputModes: ['text/plain'],
  skills: [],
};
