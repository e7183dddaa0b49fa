import fs from 'node:fs';
import fsPromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/** The calls by which a folder changes. */
const changes = ['mkdir', 'rename', 'link', 'rm', 'rmdir', 'open'] as const;

/** Counts the writes of this process, and kills it at one of them. */
export class Dying {
  /** How many writes there were. */
  count = 0;
  #at = Number.POSITIVE_INFINITY;

  /** From now on, the process dies at the write with this number: before it, after it, or when half of it is done. */
  arm(at: number): void {
    this.count = 0;
    this.#at = at;
  }

  /** To be called before and after a write. */
  point(): void {
    if (++this.count === this.#at) process.kill(process.pid, 'SIGKILL');
  }

  /** The store, each call of which is a write. */
  of<Store extends object>(store: Store): Store {
    return new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...given: unknown[]) => {
          const isWrite = /commit|put|erase|record|claim|release/i.test(String(name));
          if (isWrite) this.point();
          const answer: unknown = member.apply(target, given);
          if (isWrite && answer instanceof Promise) return answer.finally(() => this.point());
          return answer;
        };
      },
    });
  }

  /** From now on, each call that changes a folder, writes to a file, or asks S3 for a change is a write. */
  watch(): void {
    for (const name of changes) {
      const call = fsPromises[name] as (...given: unknown[]) => Promise<unknown>;
      Object.assign(fsPromises, {
        [name]: (...given: unknown[]) => {
          this.point();
          return call(...given).finally(() => this.point());
        },
      });
    }
    const { write, fsync } = fs;
    Object.assign(fs, {
      write: (fd: number, bytes: Uint8Array, offset: number, length: number, ...rest: [never, never]) => {
        if (this.count + 1 === this.#at) fs.writeSync(fd, bytes, offset, length >> 1);
        this.point();
        write(fd, bytes, offset, length, ...rest);
      },
      fsync: (fd: number, done: (error: Error | null) => void) => {
        this.point();
        fsync(fd, (error) => {
          this.point();
          done(error);
        });
      },
    });
    syncBuiltinESMExports();
    const { fetch } = globalThis;
    globalThis.fetch = async (input, init) => {
      const isWrite = /^(PUT|POST|DELETE)$/.test(init?.method ?? '');
      if (isWrite) this.point();
      return fetch(input, init).finally(() => isWrite && this.point());
    };
  }
}
