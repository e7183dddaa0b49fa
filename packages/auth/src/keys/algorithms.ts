/** Signature algorithms with public keys. Algorithms with shared secrets and `none` do not prove who signed. */
export const algorithms: readonly string[] = [
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
];
