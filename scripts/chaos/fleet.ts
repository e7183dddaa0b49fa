import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { builtProgram } from '../../test/support/built-program.ts';

const compiled = fileURLToPath(new URL('../../node_modules/.cache/chaos', import.meta.url));

/** A process that closes gives its turns a lease to end in: that takes seconds, on a busy machine too. */
const mostToCloseMs = 30_000;

/** One place where a server process runs; when it is killed, another takes its place. */
interface Member {
  child: ChildProcess;
  program: string;
  origin: string | undefined;
  state: 'starting' | 'up' | 'stopped';
}

/** What each process is told. */
interface Orders {
  readonly seed: string;
  /** Whether something goes wrong in the process by itself, such as calls of its store. */
  readonly faults: boolean;
}

/** The server processes of a run. */
export class Fleet {
  readonly #source: URL;
  #orders: Orders;
  readonly #members: Member[] = [];
  #program = '';
  #started = 0;
  #closed = false;
  #calm = false;
  /** Processes that ended without being killed by the harness. */
  crashes = 0;
  /** Processes that did not end by themselves when they were told to. */
  unclosed = 0;

  /** `program`: what each process runs. It sends `{ port }` when it is ready, and gets `calm`. */
  constructor(program: URL, orders: Orders) {
    this.#source = program;
    this.#orders = orders;
  }

  /** Resolves when all of them listen. */
  async start(count: number): Promise<void> {
    this.#program = await builtProgram(this.#source);
    for (let n = 0; n < count; n++) {
      const member: Member = {
        child: this.#spawn(this.#program),
        program: this.#program,
        origin: undefined,
        state: 'starting',
      };
      this.#members.push(member);
      this.#listen(member);
    }
    while (this.up.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  /** Where servers listen, or listened a moment ago: a client cannot know which of them still live. */
  get origins(): string[] {
    return this.#members.flatMap(({ origin }) => origin ?? []);
  }

  /** Those that can be killed or stopped. */
  get up(): readonly unknown[] {
    return this.#members.filter(({ state }) => state === 'up');
  }

  /** SIGKILL, and another process in its place. */
  kill(who: unknown): void {
    const member = who as Member;
    member.state = 'starting';
    member.child.removeAllListeners('exit');
    member.child.kill('SIGKILL');
    member.child = this.#spawn(member.program);
    this.#listen(member);
  }

  /**
   * Lets some of them, by their numbers, end by themselves (SIGTERM). Then starts as many that run `program`, and resolves when
   * these listen. Nobody may kill or stop others meanwhile. `orders`: told to all that start from then on.
   */
  async replace(numbers: readonly number[], program: string, orders: object = {}): Promise<void> {
    this.#orders = { ...this.#orders, ...orders };
    const members = this.#members.filter((_, n) => numbers.includes(n));
    const ended = members.map(async (member) => {
      member.state = 'starting';
      member.program = program;
      member.child.removeAllListeners('exit');
      if (member.child.exitCode !== null || member.child.signalCode !== null) return;
      member.child.kill();
      const tooLate = setTimeout(() => {
        this.unclosed++;
        member.child.kill('SIGKILL');
      }, mostToCloseMs);
      await once(member.child, 'exit');
      clearTimeout(tooLate);
    });
    await Promise.all(ended);
    for (const member of members) {
      member.state = 'starting';
      member.child = this.#spawn(program);
      this.#listen(member);
    }
    while (members.some(({ state }) => state === 'starting'))
      await new Promise((resolve) => setTimeout(resolve, 5));
  }

  /** SIGSTOP, and SIGCONT after so many milliseconds. */
  async stop(who: unknown, ms: number): Promise<void> {
    const member = who as Member;
    member.state = 'stopped';
    member.child.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, ms));
    member.child.kill('SIGCONT');
    member.state = 'up';
  }

  /** No more faults of the store, in processes of now and later. */
  calm(): void {
    this.#calm = true;
    for (const { child } of this.#members) if (child.connected) child.send('calm');
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(
      this.#members.map(async ({ child }) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.kill('SIGKILL');
        await once(child, 'exit');
      }),
    );
  }

  #spawn(program: string): ChildProcess {
    const seed = `${this.#orders.seed}/${this.#started++}`;
    const orders: Orders = { ...this.#orders, seed, faults: this.#orders.faults && !this.#calm };
    return fork(program, [JSON.stringify(orders)], {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      // Starting takes a quarter of the time when nothing has to be compiled again. Tests have a folder that is filled.
      env: { NODE_COMPILE_CACHE: compiled, ...process.env },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
  }

  #listen(member: Member): void {
    const { child } = member;
    child.once('message', (message) => {
      if (member.child !== child) return;
      member.origin = `http://127.0.0.1:${(message as { port: number }).port}`;
      member.state = 'up';
      if (this.#calm) child.send('calm');
    });
    child.once('exit', () => {
      if (this.#closed || member.child !== child) return;
      this.crashes++;
      member.state = 'starting';
      member.child = this.#spawn(member.program);
      this.#listen(member);
    });
  }
}
