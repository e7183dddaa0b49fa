import { isAllowed } from '../inspection.ts';
import type { Route } from './route.ts';

/** Links for colleagues, for those who may `share`. */
export const linkRoutes: Readonly<Record<string, Route>> = {
  async 'GET /links'({ links, viewer, permit }) {
    // A look is no action, and stands in no record.
    if (!(await isAllowed(viewer, 'share', {}))) await permit('share');
    return links.list();
  },

  async 'POST /links'({ links, body, permit, viewer }) {
    await permit('share');
    const { name, expiresMs, takeBack } = await body();
    if (takeBack !== undefined) return links.remove(String(takeBack)).then(links.list);
    const by = viewer.name?.slice(0, 100).toWellFormed();
    return { secret: await links.make(String(name ?? '').trim(), by, Number(expiresMs)) };
  },
};
