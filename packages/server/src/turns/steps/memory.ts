import type { Memory } from '../../agent/agent.ts';
import { asJson } from '../../agent/message-content.ts';

/** The stored memory of a task. */
export interface MemoryRecord {
  /** The values that are stored now, by key. */
  stored(): Readonly<Record<string, unknown>> | undefined;
  /** Stores changes; `undefined` forgets a key. Rejects if they cannot be stored. */
  change(changes: Readonly<Record<string, unknown>>): Promise<void>;
}

/** The memory of a task, for the turn that runs. */
export const createMemory = ({ stored, change }: MemoryRecord): Memory => ({
  get<T>(key: string): T | undefined {
    const memory = stored();
    return memory && Object.hasOwn(memory, key) ? (structuredClone(memory[key]) as T) : undefined;
  },
  async set(key, value) {
    await change({ [key]: value === undefined ? undefined : asJson(`The memory "${key}"`, value) });
  },
  async delete(key) {
    await change({ [key]: undefined });
  },
});
