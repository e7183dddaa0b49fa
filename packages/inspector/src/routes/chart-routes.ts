import type { ChartRange, Charts } from '../api/charts.ts';
import { firstOf, spans } from '../charts/chart-counts.ts';
import { RequestError } from '../http/reply.ts';
import type { Route } from './route.ts';

/** The charts of all agents. */
export const chartRoutes: Readonly<Record<string, Route>> = {
  async 'GET /charts'({ inspection, query }): Promise<Charts> {
    const range = query.get('range') ?? 'hour';
    if (!isRange(range)) throw new RequestError(400, 'range is hour, day or week');
    const read = await Promise.all(
      inspection.agents.map(async ({ id, charts }) =>
        charts ? [{ agent: id, ...(await charts.read(range)) }] : [],
      ),
    );
    return {
      from: new Date(firstOf(range, Date.now())).toISOString(),
      bucketMs: spans[range].ms,
      agents: read.flat(),
    };
  },
};

const isRange = (text: string): text is ChartRange => Object.hasOwn(spans, text);
