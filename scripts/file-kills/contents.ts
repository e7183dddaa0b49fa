import { seeded } from '../workload/random.ts';

/** The content of a file by its name: other bytes and another length for each. It begins with its name. */
export function contentOf(name: string): Buffer {
  const random = seeded(name);
  const bytes = Buffer.alloc(70_000 + Math.floor(random() * 60_000), Math.floor(random() * 256));
  bytes.write(`${name} `);
  return bytes;
}

/** What one round stores, all below the name of the round. `gone`: of the task that it erases. */
export const fileNames = ['uploaded', 'sent', 'streamed', 'made'] as const;
export const GONE = 'gone';
