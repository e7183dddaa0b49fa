import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskStore } from '@batonjs/store';
import { sqliteStore } from '@batonjs/store-sqlite';

/** A kind of store that several processes can share. */
interface Medium {
  /** A fresh place for one run. `url`: where a server of that kind is reached, if the caller has one. */
  prepare(url: string | undefined): Promise<Place>;
  open(location: string): TaskStore | Promise<TaskStore>;
}

/** Where the tasks of one run are kept. */
export interface Place {
  readonly location: string;
  remove(): Promise<void>;
}

async function file(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-chaos-'));
  return {
    location: join(folder, 'tasks.db'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The stores that can be put to the proof; another one is a row. */
export const media = {
  sqlite: { prepare: file, open: (location) => sqliteStore(location) },
  /** What survives a killed process, without what survives a power failure: several times as many tasks in the same time. */
  'sqlite-normal': { prepare: file, open: (location) => sqliteStore(location, { durability: 'normal' }) },
} satisfies Record<string, Medium>;

export type MediumName = keyof typeof media;

/** What the store under test is called on the command line. */
export const mediumOf = (name: MediumName): Medium => media[name];
