import type { PushConfig, Scope } from '@batonjs/store';
import type { Webhooks } from './webhooks.ts';

/** A webhook that was given up, with the position up to which it got everything. */
export interface DeadLetter {
  readonly scope: Scope;
  readonly taskId: string;
  /** Id of the webhook. */
  readonly id: string;
  /** Without query, which may hold a secret. */
  readonly url: string;
  /** Why it was given up. */
  readonly reason: string;
  /** Position in the log up to which it got everything. */
  readonly cursor: number;
}

/** The webhooks that were given up, for the operator of a server. */
export interface PushDeliveries {
  /** Webhooks that were given up, at most `limit` (default 100). Empty where there is no push. */
  deadLetters(options?: { limit?: number }): Promise<DeadLetter[]>;
  /** Tries one again, from where it stopped. Resolves to false if it does not exist or was not given up. */
  redeliver(letter: Pick<DeadLetter, 'scope' | 'taskId' | 'id'>): Promise<boolean>;
}

export function pushDeliveries(push: Webhooks | undefined, queue: string): PushDeliveries {
  return {
    deadLetters: async ({ limit = 100 } = {}) =>
      ((await push?.store.listDead(queue, { limit })) ?? []).map(toDeadLetter),
    redeliver: async ({ scope, taskId, id }) => (await push?.store.revive(scope, taskId, id)) ?? false,
  };
}

function toDeadLetter({ scope, taskId, id, config, dead = '', cursor }: PushConfig): DeadLetter {
  const { origin = '', pathname = '' } = URL.canParse(config.url) ? new URL(config.url) : {};
  return { scope, taskId, id, url: origin + pathname, reason: dead, cursor };
}
