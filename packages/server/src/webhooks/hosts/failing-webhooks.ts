import type { PushConfig } from '@batonjs/store';

/** The name of a webhook. */
export type PushConfigName = Pick<PushConfig, 'scope' | 'taskId' | 'id'>;

interface Failing {
  readonly name: PushConfigName;
  /** Redirects and refusals (4xx) in a row. */
  rejections: number;
  /** Whether it may be tried before its time: it sent no `Retry-After`, and was not tried early since it failed. */
  mayBeEarly: boolean;
  /** How often it was tried early since it last worked. */
  early: number;
}

/** Beyond this number the oldest are forgotten: they wait as long as planned. */
const most = 10_000;

/** A webhook that keeps failing on a host that works is not tried early any more. */
const earlyAtMost = 3;

/** The webhooks whose last attempt failed in this process, by host. */
export class FailingWebhooks {
  readonly #hosts = new Map<string, Map<string, Failing>>();
  #size = 0;

  /** Notes a failed attempt. Returns how many in a row were redirects or refusals (4xx). */
  failed(
    push: PushConfig,
    { isRejection, mayBeEarly }: { isRejection: boolean; mayBeEarly: boolean },
  ): number {
    const failing = this.#enter(push);
    failing.rejections = isRejection ? failing.rejections + 1 : 0;
    failing.mayBeEarly = mayBeEarly;
    return failing.rejections;
  }

  /** Notes that an attempt was postponed because the host does not answer. */
  postponed(push: PushConfig): void {
    const failing = this.#enter(push);
    failing.mayBeEarly = true;
    failing.early = Math.max(0, failing.early - 1);
  }

  /** Notes that the webhook works, or is not tried any more. */
  over(push: PushConfig): void {
    const webhooks = this.#hosts.get(hostOf(push));
    if (webhooks?.delete(keyOf(push))) this.#size--;
    if (webhooks?.size === 0) this.#hosts.delete(hostOf(push));
  }

  /** All of them. */
  get names(): readonly PushConfigName[] {
    return [...this.#hosts.values()].flatMap((webhooks) => [...webhooks.values()].map(({ name }) => name));
  }

  /** The webhooks of a host that answers again which are to be tried now. */
  takeEarly(host: string): readonly PushConfigName[] {
    const early = [...(this.#hosts.get(host)?.values() ?? [])].filter(
      (failing) => failing.mayBeEarly && failing.early < earlyAtMost,
    );
    for (const failing of early) {
      failing.mayBeEarly = false;
      failing.early++;
    }
    return early.map(({ name }) => name);
  }

  #enter(push: PushConfig): Failing {
    const host = hostOf(push);
    const webhooks = this.#hosts.get(host) ?? new Map<string, Failing>();
    this.#hosts.set(host, webhooks);
    const key = keyOf(push);
    const known = webhooks.get(key);
    if (known) return known;
    const { scope, taskId, id } = push;
    const failing = { name: { scope, taskId, id }, rejections: 0, mayBeEarly: true, early: 0 };
    webhooks.set(key, failing);
    if (++this.#size > most) this.#forgetOldest();
    return failing;
  }

  #forgetOldest(): void {
    for (const [host, webhooks] of this.#hosts) {
      for (const key of webhooks.keys()) {
        webhooks.delete(key);
        this.#size--;
        if (webhooks.size === 0) this.#hosts.delete(host);
        return;
      }
    }
  }
}

/** The host and port that a webhook is at. */
export const hostOf = ({ config }: PushConfig): string =>
  URL.canParse(config.url) ? new URL(config.url).host : '';

const keyOf = ({ scope, taskId, id }: PushConfigName): string => JSON.stringify([scope, taskId, id]);

interface Share {
  running: number;
  failures: number;
}

/**
 * Shares the deliveries that may run at once among hosts. A host gets no more than is left for all others together: one
 * that never answers holds at most half, two hold two thirds.
 */
export function hostShares(limit: number) {
  const shares = new Map<string, Share>();
  let running = 0;

  /** How many more deliveries may run. */
  const free = (): number => limit - running;

  return {
    get free(): number {
      return free();
    },
    /** Counts one more delivery to the host. Returns false if the host has its share already. */
    enter(host: string): boolean {
      const share = shares.get(host) ?? { running: 0, failures: 0 };
      if (free() <= 0 || share.running >= free()) return false;
      shares.set(host, share);
      share.running++;
      running++;
      return true;
    },
    leave(host: string, hasFailed: boolean): void {
      const share = shares.get(host);
      if (!share) return;
      running--;
      share.running--;
      share.failures = hasFailed ? share.failures + 1 : 0;
      if (share.running === 0) shares.delete(host);
    },
    /** Deliveries to a busy host that failed in a row. */
    failures: (host: string): number => shares.get(host)?.failures ?? 0,
  };
}
