import type { ComponentProps } from 'preact';
import type { AgentCharts, Charts } from '../../api/charts.ts';
import { hrefOf } from '../data/route.ts';
import { useAgent } from '../data/session.ts';
import { AgentMark } from '../parts/agent-mark.tsx';
import { dateTime, plural } from '../parts/words.ts';
import { NumbersTable } from './numbers-table.tsx';
import { roughly } from './roughly.ts';
import { type ChartTime, SmallChart } from './small-chart.tsx';

interface AgentFiguresProps {
  readonly charts: AgentCharts;
  readonly time: Charts;
}

/** The charts of one agent, and its numbers. */
export function AgentFigures({ charts, time: { from, bucketMs } }: AgentFiguresProps) {
  const { agent, since, isReading, problem } = charts;
  const name = useAgent(agent)?.name ?? agent;
  const time: ChartTime = { from: Date.parse(from), bucketMs, since: Date.parse(since) };
  return (
    <section class="pane chart-agent" aria-label={name}>
      <header class="chart-head">
        <AgentMark id={agent} name={name} />
        <h2>
          <a href={hrefOf(agent, 'tasks')}>{name}</a>
        </h2>
        {isReading && <span class="muted">still reading older tasks</span>}
        {!isReading && time.since > time.from && <span class="muted">since {dateTime(since)}</span>}
        {problem && <span class="field-problem">{problem}</span>}
      </header>
      <div class="chart-grid">
        {figures.map((propsOf, index) => (
          <SmallChart key={index} time={time} {...propsOf(charts)} />
        ))}
      </div>
      <NumbersTable charts={charts} time={time} />
    </section>
  );
}

/** What each chart of an agent shows. */
const figures: readonly ((charts: AgentCharts) => Omit<ComponentProps<typeof SmallChart>, 'time'>)[] = [
  ({ buckets, total }) => ({
    title: 'Started',
    figure: count(total.started),
    series: [{ kind: 'bars', tone: 'main', values: buckets.map(({ started }) => started) }],
    say: (index) => plural(buckets[index]?.started ?? 0, 'task'),
  }),
  ({ buckets, total }) => ({
    title: 'Ended',
    figure: count(total.ended),
    aside: total.failed > 0 && <span class="chart-bad">{count(total.failed)} failed</span>,
    series: [
      { kind: 'bars', tone: 'main', values: buckets.map(({ ended }) => ended) },
      { kind: 'bars', tone: 'bad', values: buckets.map(({ failed }) => failed) },
    ],
    say: (index) => `${count(buckets[index]?.ended)} ended, ${count(buckets[index]?.failed)} failed`,
  }),
  ({ buckets, total }) => ({
    title: 'Waiting for an answer',
    figure: total.waiting?.toLocaleString('en') ?? '–',
    aside: 'now',
    series: [{ kind: 'steps', tone: 'wait', values: buckets.map(({ waiting }) => waiting) }],
    say: (index) => {
      const { waiting } = buckets[index] ?? {};
      return waiting === undefined ? 'not counted' : `${count(waiting)} at most`;
    },
  }),
  ({ buckets, total }) => ({
    title: 'Duration, p50 and p95',
    figure: total.p50 === undefined ? '–' : roughly(total.p50),
    aside: total.p95 !== undefined && (
      <>
        <i class="chart-key" />
        <span class="visually-hidden">p95</span> {roughly(total.p95)}
      </>
    ),
    format: roughly,
    series: [
      { kind: 'dots', tone: 'slow', values: buckets.map(({ p95 }) => p95) },
      { kind: 'dots', tone: 'main', values: buckets.map(({ p50 }) => p50) },
    ],
    say: (index) => {
      const { p50, p95 } = buckets[index] ?? {};
      return p50 === undefined || p95 === undefined
        ? 'none ended'
        : `half within ${roughly(p50)}, 95 % within ${roughly(p95)}`;
    },
  }),
];

const count = (number = 0): string => number.toLocaleString('en');
