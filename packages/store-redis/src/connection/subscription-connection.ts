import { type Client, type ClientOptions, clientOf, closeNow } from './first-server.ts';
import { type Link, Reconnecting } from './reconnecting.ts';

export interface SubscriptionOptions {
  /** Servers to try: any node of a Cluster passes on the messages of all. */
  readonly seeds: ReadonlySet<string>;
  readonly name: string;
  readonly timeoutMs: number;
  readonly client: ClientOptions;
  readonly channels: readonly string[];
  readonly receive: (message: string, channel: string) => void;
  readonly missed: () => void;
}

/** Subscribes to channels on one connection, and reconnects when it is lost. */
export class Subscription {
  readonly #connection: Reconnecting<SubscriptionSocket>;

  constructor(options: SubscriptionOptions) {
    let attempts = 0;
    const open = (lost: (cause: unknown) => void) => new SubscriptionSocket(options, attempts++, lost);
    this.#connection = new Reconnecting(open, options.name, options.timeoutMs);
  }

  async ready(): Promise<void> {
    await this.#connection.wait();
  }

  close(): void {
    this.#connection.close();
  }
}

class SubscriptionSocket implements Link {
  readonly ready: Promise<void>;
  readonly #options: SubscriptionOptions;
  readonly #client: Client;
  readonly #lost: (cause: unknown) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SubscriptionOptions, attempt: number, lost: (cause: unknown) => void) {
    const { seeds, client, timeoutMs } = options;
    this.#options = options;
    this.#lost = lost;
    this.#client = clientOf([...seeds][attempt % seeds.size]!, client, timeoutMs).on('error', lost);
    this.ready = this.#connect(attempt);
  }

  destroy(): void {
    clearTimeout(this.#timer);
    closeNow(this.#client);
  }

  async #connect(attempt: number): Promise<void> {
    const { channels, receive, missed } = this.#options;
    await this.#client.connect();
    await this.#client.subscribe([...channels], receive);
    if (attempt > 0) missed();
    this.#listen();
  }

  /** Pings: a connection that was cut silently is silent like one without messages. */
  #listen(): void {
    const { timeoutMs } = this.#options;
    this.#timer = setTimeout(() => {
      this.#timer = setTimeout(() => this.#lost(new Error('the subscription is silent')), timeoutMs);
      this.#timer.unref();
      const answered = () => {
        clearTimeout(this.#timer);
        this.#listen();
      };
      this.#client.ping().then(answered, this.#lost);
    }, timeoutMs / 2);
    this.#timer.unref();
  }
}
