import { describe, expect, expectTypeOf, it } from 'vitest';
import { AgentCard, SecurityScheme } from '../../src/model/agent-card.ts';
import { fieldViolations } from '../../src/parse-params.ts';

const minimal = {
  name: 'Converter',
  description: '',
  version: '1.2.3',
  supportedInterfaces: [{ url: 'https://x.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: {},
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
};

const full = {
  ...minimal,
  description: 'Converts money',
  supportedInterfaces: [
    { url: 'https://x.example/a2a', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: 'acme' },
    { url: 'x.example:443', protocolBinding: 'GRPC', protocolVersion: '1.0' },
  ],
  provider: { url: 'https://x.example', organization: 'X' },
  documentationUrl: 'https://x.example/docs',
  iconUrl: '',
  capabilities: {
    streaming: false,
    pushNotifications: true,
    extendedAgentCard: true,
    extensions: [{ uri: 'https://x.example/ext', description: 'd', required: true, params: { a: null } }],
  },
  securitySchemes: {
    key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } },
    bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } },
    oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://x.example/oidc' } },
    mtls: { mtlsSecurityScheme: {} },
    code: {
      oauth2SecurityScheme: {
        flows: {
          authorizationCode: {
            authorizationUrl: 'https://x.example/auth',
            tokenUrl: 'https://x.example/token',
            scopes: { read: 'Read' },
            pkceRequired: true,
          },
        },
      },
    },
    machine: {
      oauth2SecurityScheme: {
        flows: { clientCredentials: { tokenUrl: 'https://x.example/token', scopes: {} } },
        oauth2MetadataUrl: 'https://x.example/meta',
      },
    },
    device: {
      oauth2SecurityScheme: {
        flows: {
          deviceCode: {
            deviceAuthorizationUrl: 'https://x.example/device',
            tokenUrl: 'https://x.example/token',
            scopes: {},
          },
        },
      },
    },
    old: { oauth2SecurityScheme: { flows: { implicit: { authorizationUrl: 'https://x.example/auth' } } } },
    older: { oauth2SecurityScheme: { flows: { password: { tokenUrl: 'https://x.example/token' } } } },
  },
  securityRequirements: [{ schemes: { key: { list: [] }, code: { list: ['read'] } } }, { schemes: {} }],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['application/json'],
  skills: [
    {
      id: 'convert',
      name: 'Convert',
      description: 'Converts',
      tags: ['money'],
      examples: ['100 USD to EUR'],
      inputModes: ['text/plain'],
      outputModes: ['text/plain'],
      securityRequirements: [{ schemes: { key: { list: [] } } }],
    },
  ],
  signatures: [{ protected: 'e30', signature: 'c2ln', header: { kid: '1' } }],
};

const violations = (card: unknown) => {
  const { error } = AgentCard.safeParse(card);
  return error ? fieldViolations(error).map(({ field, description }) => `${field}: ${description}`) : [];
};

describe('AgentCard', () => {
  it.each([
    ['minimal', minimal],
    ['full', full],
  ])('takes a %s card as it is, empty required members included [R-DM-40, R-SIG-03]', (_, card) => {
    expect(AgentCard.parse(card)).toEqual(card);
  });

  it('takes snake_case names at every level [R-JSON-04]', () => {
    const { supportedInterfaces: _, defaultInputModes: __, ...rest } = minimal;
    const card = {
      ...rest,
      default_input_modes: [],
      supported_interfaces: [
        { url: 'https://x.example/a2a', protocol_binding: 'JSONRPC', protocol_version: '1.0' },
      ],
      security_schemes: {
        o: {
          oauth2_security_scheme: {
            flows: { device_code: full.securitySchemes.device.oauth2SecurityScheme.flows.deviceCode },
          },
        },
        i: { open_id_connect_security_scheme: { open_id_connect_url: 'https://x.example' } },
      },
    };
    expect(AgentCard.parse(card)).toEqual({
      ...minimal,
      securitySchemes: {
        o: full.securitySchemes.device,
        i: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://x.example' } },
      },
    });
  });

  it('drops what it does not know, such as the members of a 0.3 card [R-SIG-09]', () => {
    expect(AgentCard.parse({ ...minimal, url: 'https://x.example', preferredTransport: 'JSONRPC' })).toEqual(
      minimal,
    );
  });

  it.each<[object, string[]]>([
    [
      { name: undefined, supportedInterfaces: [] },
      ['name: is required', 'supportedInterfaces: must have at least one interface'],
    ],
    [
      { supportedInterfaces: [{ url: '', protocolBinding: 'JSONRPC' }] },
      [
        'supportedInterfaces[0].url: must not be empty',
        'supportedInterfaces[0].protocolVersion: is required',
      ],
    ],
    [
      {
        securitySchemes: {
          none: {},
          two: { mtlsSecurityScheme: {}, httpAuthSecurityScheme: { scheme: 'Basic' } },
        },
      },
      [
        'securitySchemes.none: must have exactly one of apiKeySecurityScheme, httpAuthSecurityScheme, oauth2SecurityScheme, openIdConnectSecurityScheme, mtlsSecurityScheme; has none',
        'securitySchemes.two: must have exactly one of apiKeySecurityScheme, httpAuthSecurityScheme, oauth2SecurityScheme, openIdConnectSecurityScheme, mtlsSecurityScheme; has httpAuthSecurityScheme and mtlsSecurityScheme',
      ],
    ],
    [
      { securitySchemes: { two: { oauth2SecurityScheme: { flows: { implicit: {}, password: {} } } } } },
      [
        'securitySchemes.two.oauth2SecurityScheme.flows: must have exactly one of authorizationCode, clientCredentials, implicit, password, deviceCode; has implicit and password',
      ],
    ],
    [
      { capabilities: { streaming: 'yes' } },
      ['capabilities.streaming: Invalid input: expected boolean, received string'],
    ],
    [
      { skills: [{ id: 's' }] },
      ['skills[0].name: is required', 'skills[0].description: is required', 'skills[0].tags: is required'],
    ],
  ])('refuses %j and names every violation [R-JSON-14, R-DM-49]', (members, expected) => {
    expect(violations({ ...minimal, ...members })).toEqual(expected);
  });

  it('has security schemes that narrow by their member', () => {
    const scheme = SecurityScheme.parse(full.securitySchemes.bearer);
    if (!('httpAuthSecurityScheme' in scheme)) throw new Error('wrong member');
    expectTypeOf(scheme.httpAuthSecurityScheme.scheme).toEqualTypeOf<string>();
    expect(scheme.httpAuthSecurityScheme.scheme).toBe('Bearer');
  });
});
