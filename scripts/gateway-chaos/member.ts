import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtProgram } from '../../test/support/built-program.ts';
import type { GatewayOrders } from './gateway.ts';

const program = builtProgram(new URL('./gateway.ts', import.meta.url));

/** A gateway process; after a kill, another one takes its port. */
export class Member {
  readonly #orders: GatewayOrders;
  #child: ChildProcess | undefined;

  constructor(orders: GatewayOrders) {
    this.#orders = orders;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#orders.port}`;
  }

  /** Resolves when it listens. Rejects if it ends before. */
  async start(): Promise<void> {
    const child = fork(await program, [JSON.stringify(this.#orders)], {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child = child;
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`A gateway process ended with ${code} before it listened`);
    });
    ended.catch(() => {});
    await Promise.race([once(child, 'message'), ended]);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  /** SIGSTOP, and SIGCONT after so many milliseconds. */
  async stop(ms: number): Promise<void> {
    this.#child?.kill('SIGSTOP');
    await sleep(ms);
    this.#child?.kill('SIGCONT');
  }
}
