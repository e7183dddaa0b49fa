import type { Part } from '@batonjs/protocol';

/** The members of an update that tests look at. */
export interface Update {
  readonly status?: {
    readonly state: string;
    readonly message?: { readonly parts: readonly Part[]; readonly metadata?: Record<string, never> };
  };
  readonly artifact?: {
    readonly artifactId: string;
    readonly name?: string;
    readonly parts: readonly Part[];
    readonly metadata?: object;
  };
  readonly append?: boolean;
  readonly lastChunk?: boolean;
  readonly metadata?: Record<string, unknown>;
}
