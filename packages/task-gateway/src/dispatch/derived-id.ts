import { createHash } from 'node:crypto';
import type { Turn } from '@batonjs/server';

/** An id that every attempt of every process derives alike, and that no other task has. */
export const derivedId = ({ taskId }: Turn, name: string): string =>
  createHash('sha256')
    .update(JSON.stringify(['task-gateway', taskId, name]))
    .digest('hex')
    .slice(0, 32);
