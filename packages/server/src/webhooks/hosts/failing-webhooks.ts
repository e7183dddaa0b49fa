import type { PushConfig, PushConfigName } from '@batonjs/store';

interface Failing {
  readonly name: PushConfigName;
  /** Redirects and refusals (4xx) in a row. */
  rejections: number;
  /** Whether it may be tried before its time: it sent no `Retry-After`, and was not hurried since it failed. */
  mayHurry: boolean;
  /** How often it was hurried since it last worked. */
  hurried: number;
}

/** Beyond this number the oldest are forgotten: they wait as long as planned. */
const most = 10_000;

/** A webhook that keeps failing on a host that works is not hurried any more. */
const hurriedAtMost = 3;

/** The webhooks whose last attempt failed in this process, by host. */
export class FailingWebhooks {
  readonly #hosts = new Map<string, Map<string, Failing>>();
  #size = 0;

  /** Notes a failed attempt. Returns how many in a row were redirects or refusals (4xx). */
  failed(push: PushConfig, { isRejection, mayHurry }: { isRejection: boolean; mayHurry: boolean }): number {
    const failing = this.#enter(push);
    failing.rejections = isRejection ? failing.rejections + 1 : 0;
    failing.mayHurry = mayHurry;
    return failing.rejections;
  }

  /** Notes that an attempt was put off because the host does not answer. */
  postponed(push: PushConfig): void {
    const failing = this.#enter(push);
    failing.mayHurry = true;
    failing.hurried = Math.max(0, failing.hurried - 1);
  }

  /** Notes that the webhook works, or is not tried any more. */
  over(push: PushConfig): void {
    const webhooks = this.#hosts.get(hostOf(push));
    if (webhooks?.delete(keyOf(push))) this.#size--;
    if (webhooks?.size === 0) this.#hosts.delete(hostOf(push));
  }

  /** The webhooks of a host that answers again which are to be tried now. */
  hurry(host: string): readonly PushConfigName[] {
    const hurried = [...(this.#hosts.get(host)?.values() ?? [])].filter(
      (failing) => failing.mayHurry && failing.hurried < hurriedAtMost,
    );
    for (const failing of hurried) {
      failing.mayHurry = false;
      failing.hurried++;
    }
    return hurried.map(({ name }) => name);
  }

  #enter(push: PushConfig): Failing {
    const host = hostOf(push);
    const webhooks = this.#hosts.get(host) ?? new Map<string, Failing>();
    this.#hosts.set(host, webhooks);
    const key = keyOf(push);
    const known = webhooks.get(key);
    if (known) return known;
    const { scope, taskId, id } = push;
    const failing = { name: { scope, taskId, id }, rejections: 0, mayHurry: true, hurried: 0 };
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
