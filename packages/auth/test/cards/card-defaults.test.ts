import { describe, expect, it } from 'vitest';
import { cardPayload } from '../../src/cards/card-payload.ts';

const specOf = (card: unknown) => JSON.parse(cardPayload(card).spec);

/** Every message of a card, without a member. */
const messages = {
  supportedInterfaces: [{}],
  provider: {},
  capabilities: { extensions: [{}] },
  skills: [{}],
  securitySchemes: {
    key: { apiKeySecurityScheme: {} },
    http: { httpAuthSecurityScheme: {} },
    oauth: {
      oauth2SecurityScheme: {
        flows: { authorizationCode: {}, clientCredentials: {}, implicit: {}, password: {}, deviceCode: {} },
      },
    },
    flowless: { oauth2SecurityScheme: {} },
    openid: { openIdConnectSecurityScheme: {} },
    mtls: { mtlsSecurityScheme: {} },
  },
};

/** The same, with the members that are always signed. */
const withDefaults = {
  name: '',
  description: '',
  version: '',
  defaultInputModes: [],
  defaultOutputModes: [],
  supportedInterfaces: [{ url: '', protocolBinding: '', protocolVersion: '' }],
  provider: { url: '', organization: '' },
  capabilities: { extensions: [{}] },
  skills: [{ id: '', name: '', description: '', tags: [] }],
  securitySchemes: {
    key: { apiKeySecurityScheme: { location: '', name: '' } },
    http: { httpAuthSecurityScheme: { scheme: '' } },
    oauth: {
      oauth2SecurityScheme: {
        flows: {
          authorizationCode: { authorizationUrl: '', tokenUrl: '', scopes: {} },
          clientCredentials: { tokenUrl: '', scopes: {} },
          implicit: {},
          password: {},
          deviceCode: { deviceAuthorizationUrl: '', tokenUrl: '', scopes: {} },
        },
      },
    },
    flowless: { oauth2SecurityScheme: { flows: {} } },
    openid: { openIdConnectSecurityScheme: { openIdConnectUrl: '' } },
    mtls: { mtlsSecurityScheme: {} },
  },
};

describe('the signed text of a card of empty messages', () => {
  it('has the defaults of the members that are always signed, and no others [R-SIG-03]', () => {
    expect(specOf(messages)).toEqual(withDefaults);
  });

  it('is the same if those members are at their defaults [R-SIG-03]', () => {
    expect(specOf(withDefaults)).toEqual(withDefaults);
  });

  it('is the same if the members that are signed only with a value are at their defaults [R-SIG-03]', () => {
    const description = '';
    const refreshUrl = '';
    const scheme = withDefaults.securitySchemes;
    const { flows } = scheme.oauth.oauth2SecurityScheme;
    const optional = {
      ...withDefaults,
      securityRequirements: [],
      supportedInterfaces: [{ ...withDefaults.supportedInterfaces[0], tenant: '' }],
      capabilities: { extensions: [{ uri: '', description, required: false }] },
      skills: [
        {
          ...withDefaults.skills[0],
          examples: [],
          inputModes: [],
          outputModes: [],
          securityRequirements: [],
        },
      ],
      securitySchemes: {
        key: { apiKeySecurityScheme: { ...scheme.key.apiKeySecurityScheme, description } },
        http: { httpAuthSecurityScheme: { scheme: '', bearerFormat: '', description } },
        oauth: {
          oauth2SecurityScheme: {
            description,
            oauth2MetadataUrl: '',
            flows: {
              authorizationCode: { ...flows.authorizationCode, refreshUrl, pkceRequired: false },
              clientCredentials: { ...flows.clientCredentials, refreshUrl },
              implicit: { authorizationUrl: '', refreshUrl, scopes: {} },
              password: { tokenUrl: '', refreshUrl, scopes: {} },
              deviceCode: { ...flows.deviceCode, refreshUrl },
            },
          },
        },
        flowless: { oauth2SecurityScheme: { flows: {}, description } },
        openid: { openIdConnectSecurityScheme: { openIdConnectUrl: '', description } },
        mtls: { mtlsSecurityScheme: { description } },
      },
    };
    expect(specOf(optional)).toEqual(withDefaults);
  });

  it('is empty in the form of the official SDKs, and has no unknown member', () => {
    const { sdk, unknown } = cardPayload(messages);
    expect([sdk, unknown]).toEqual(['{}', []]);
  });

  it('names the empty security members that the SDKs leave out, and no others', () => {
    const { missingInSdk } = cardPayload({
      ...messages,
      securitySchemes: { mtls: { mtlsSecurityScheme: {} } },
    });
    expect(missingInSdk).toEqual(['securitySchemes.mtls.mtlsSecurityScheme', 'securitySchemes.mtls']);
  });

  it('has the members of every flow and scheme that have a value [R-SIG-03]', () => {
    const flow = { refreshUrl: 'r', scopes: { s: 'S' } };
    const securitySchemes = {
      oauth: {
        oauth2SecurityScheme: {
          flows: {
            clientCredentials: { tokenUrl: 't', ...flow },
            implicit: { authorizationUrl: 'a', ...flow },
            password: { tokenUrl: 't', ...flow },
            deviceCode: { deviceAuthorizationUrl: 'd', tokenUrl: 't', ...flow },
          },
        },
      },
      mtls: { mtlsSecurityScheme: { description: 'd' } },
    };
    expect(specOf({ ...withDefaults, securitySchemes })).toEqual({ ...withDefaults, securitySchemes });
  });

  it('has no null in the form of the official SDKs', () => {
    const card = { name: 'n', capabilities: { extensions: [{ params: { none: null, one: 1 } }] } };
    expect(JSON.parse(cardPayload(card).sdk)).toEqual({
      name: 'n',
      capabilities: { extensions: [{ params: { one: 1 } }] },
    });
  });

  it('takes null for a member that is missing', () => {
    expect(specOf({ ...messages, provider: null, name: null, iconUrl: null })).toEqual({
      ...withDefaults,
      provider: undefined,
    });
  });
});
