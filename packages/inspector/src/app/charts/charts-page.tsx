import type { ChartRange, Charts } from '../../api/charts.ts';
import { changeQuery } from '../data/route.ts';
import { useGet, useSession } from '../data/session.ts';
import { Empty, Loading, PageHead, ProblemNote } from '../parts/bits.tsx';
import { Toggles } from '../parts/choice.tsx';
import { AgentFigures } from './agent-figures.tsx';

/** How often the charts are read again, in milliseconds. */
const everyMs = 5_000;

const ranges: readonly (readonly [ChartRange, string])[] = [
  ['hour', 'Last hour'],
  ['day', 'Last day'],
  ['week', 'Last week'],
];

/** What happened to the tasks of each agent: small charts from counters. */
export function ChartsPage({ query }: { readonly query: URLSearchParams }) {
  const range = ranges.find(([name]) => name === query.get('range'))?.[0] ?? 'hour';
  const { value, error, again } = useGet<Charts>(`/charts?range=${range}`, everyMs);
  return (
    <div class="charts-page">
      <PageHead title="Charts">
        <Toggles
          label="Time"
          chosen={range}
          values={ranges}
          onChoose={(name) => changeQuery({ range: name === 'hour' ? '' : name })}
        />
      </PageHead>
      <ProblemNote problem={error?.problem} onRetry={again} />
      {!value && !error && <Loading what="Counting tasks" />}
      {value && <AllCharts charts={value} range={range} />}
    </div>
  );
}

function AllCharts({ charts, range }: { readonly charts: Charts; readonly range: ChartRange }) {
  const { agents } = useSession();
  const unknown = agents.filter(({ hasStore }) => !hasStore);
  if (charts.agents.length === 0)
    return (
      <Empty icon="charts" title="No agent with a store">
        Charts are counted from the store of an agent, and the inspector knows these by their address only.
      </Empty>
    );
  return (
    <>
      {charts.agents.map((each) => (
        <AgentFigures key={`${each.agent} ${range}`} charts={each} time={charts} />
      ))}
      <p class="muted chart-note">
        Durations are from the first message to the end, waits included, and right to within 5 %. Tasks that
        were deleted before they were counted are not in these numbers, nor are answers without a task.
        Waiting tasks are counted once a minute since the first reader.
        {unknown.length > 0 &&
          ` Without charts, as the inspector has their address and not their store: ${unknown.map(({ name }) => name).join(', ')}.`}
      </p>
    </>
  );
}
