import type { AgentCharts } from '../../api/charts.ts';
import { dateTime } from '../parts/words.ts';
import { roughly } from './roughly.ts';
import type { ChartTime } from './small-chart.tsx';

/** The same numbers for readers who do not see charts, or want to copy them. */
export function NumbersTable({ charts, time }: { readonly charts: AgentCharts; readonly time: ChartTime }) {
  const rows = charts.buckets
    .map((bucket, index) => ({ bucket, at: new Date(time.from + index * time.bucketMs).toISOString() }))
    .filter(({ bucket: { started, ended, waiting } }) => started > 0 || ended > 0 || waiting);
  return (
    <details class="chart-table">
      <summary>Numbers</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached with the keyboard. */}
      <section class="table-frame" tabIndex={0} aria-label="Numbers">
        <table class="table">
          <thead>
            <tr>
              {['From', 'Started', 'Ended', 'Failed', 'Waiting', 'p50', 'p95'].map((name, index) => (
                <th key={name} scope="col" class={index > 0 ? 'number' : ''}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ at, bucket: { started, ended, failed, waiting, p50, p95 } }) => (
              <tr key={at}>
                <th scope="row">{dateTime(at)}</th>
                {[started, ended, failed, waiting].map((count, index) => (
                  <td key={index} class="number">
                    {count?.toLocaleString('en') ?? ''}
                  </td>
                ))}
                {[p50, p95].map((ms, index) => (
                  <td key={index} class="number">
                    {ms === undefined ? '' : roughly(ms)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {rows.length === 0 && <p class="muted">Nothing happened in this time.</p>}
      </section>
    </details>
  );
}
