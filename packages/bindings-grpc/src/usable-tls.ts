import { createSecureContext, type SecureContextOptions } from 'node:tls';

/** Throws a `TypeError` if certificates or keys in PEM cannot be used, or do not belong together. It never says them. */
export function mustBeUsable(tls: Pick<SecureContextOptions, 'ca' | 'cert' | 'key'>): void {
  try {
    createSecureContext(tls);
  } catch (error) {
    throw new TypeError(
      `\`tls\` has a certificate or a key that cannot be used: ${(error as Error).message}`,
    );
  }
}
