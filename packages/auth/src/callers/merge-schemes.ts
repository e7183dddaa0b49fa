import type { SecurityScheme } from '@batonjs/protocol';
import type { Authenticator } from './authenticator.ts';

/** The schemes of several authenticators by name. Throws `TypeError` if two different schemes have the same name. */
export function mergeSchemes(all: readonly Authenticator[]): Record<string, SecurityScheme> {
  const merged = new Map<string, SecurityScheme>();
  for (const [name, scheme] of all.flatMap(({ securitySchemes }) => Object.entries(securitySchemes))) {
    const known = merged.get(name);
    if (known && JSON.stringify(known) !== JSON.stringify(scheme))
      throw new TypeError(`Two security schemes are named "${name}": give one of them another \`name\``);
    merged.set(name, scheme);
  }
  return Object.fromEntries(merged);
}
