/** Signature algorithms with a public key. A key that both sides know proves nothing to a third, and `none` nothing at all. */
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
