import { join } from 'node:path';

export default {
  // As in a new project of the day.
  cacheComponents: true,
  partialPrefetching: true,
  // The packages of Baton are links into this repository: an app that installed them needs no `root`.
  turbopack: { root: join(import.meta.dirname, '../../../..') },
};
