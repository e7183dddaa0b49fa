import type { TaskPicture } from '../../api/graph.ts';
import type { TaskRow } from '../../api/task.ts';
import { agentPath, queryOf } from '../data/api.ts';
import { hrefOf } from '../data/route.ts';
import { useGet, useMay } from '../data/session.ts';
import { useNow } from '../data/use-now.ts';
import { useTaskList } from '../list/use-task-list.ts';
import { Empty, Loading, PageHead, ProblemNote } from '../parts/bits.tsx';
import { Icon } from '../parts/icon.tsx';
import { ago, oneLine, plural, saidBeside, shortId, stateClass, stateName } from '../parts/words.ts';
import { layoutGraph, nodeHeight, nodeWidth } from './layout-graph.ts';

interface GraphPageProps {
  readonly agent: string;
  readonly context: string;
  readonly scope: number;
}

/** The contexts of an agent, and the tasks of one as a picture. */
export function GraphPage({ agent, context, scope }: GraphPageProps) {
  const list = useTaskList(agent, { scope });
  const now = useNow();
  const contexts = contextsOf(list.rows);
  const shown = context || contexts[0]?.id;
  return (
    <div class="graph-page">
      <PageHead
        title="Contexts"
        about="An arrow leads from a task to one that refers to it, a dashed one to a task that it started."
      />
      <ProblemNote problem={list.problem} />
      {list.isLoading && !list.problem && <Loading what="Reading tasks" />}
      {!list.isLoading && contexts.length === 0 && !context ? (
        <Empty icon="graph" title="No contexts yet">
          A context is a conversation: tasks whose messages belong together.
        </Empty>
      ) : (
        <div class="panes">
          <nav class="pane pane-contexts" aria-label="Contexts">
            <ul class="contexts">
              {contexts.map(({ id, tasks }) => (
                <li key={id}>
                  <a
                    class="context-link"
                    href={hrefOf(agent, 'graph', undefined, { context: id })}
                    aria-current={id === shown ? 'page' : undefined}
                  >
                    <span class="context-title">{tasks.at(-1)?.title ?? shortId(id)}</span>
                    <span class="muted">
                      {plural(tasks.length, 'task')}
                      {tasks[0]?.statusAt && ` · ${ago(tasks[0].statusAt, now)}`}
                    </span>
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <section class="pane pane-graph" aria-label="Tasks of the context">
            {shown && <Picture agent={agent} context={shown} scope={scope} version={list.rows} />}
          </section>
        </div>
      )}
    </div>
  );
}

interface PictureProps {
  readonly agent: string;
  readonly context: string;
  readonly scope: number;
  /** The picture is drawn again whenever a task of the context changed. */
  readonly version: readonly TaskRow[];
}

function Picture({ agent, context, scope, version }: PictureProps) {
  const maySend = useMay('send');
  const latest = version.find(({ contextId }) => contextId === context);
  const count = version.filter(({ contextId }) => contextId === context).length;
  const change = `${count} ${latest?.state ?? ''} ${latest?.version ?? latest?.statusAt ?? ''}`;
  const { value, error, again } = useGet<TaskPicture>(
    agentPath(agent, 'graph') + queryOf({ contextId: context, scope, change }),
  );
  if (error && !value) return <ProblemNote problem={error.problem} onRetry={again} />;
  if (!value) return <Loading what="Drawing the picture" />;
  if (value.nodes.length === 0) return <Empty icon="graph" title="No task of this context is left" />;
  return (
    <>
      <div class="graph-tools">
        <span class="mono muted" title={context}>
          {shortId(context)}
        </span>
        <a class="button button-quiet" href={hrefOf(agent, 'tasks', undefined, { context })}>
          <Icon name="tasks" />
          As a list
        </a>
        {maySend && (
          <a class="button button-quiet" href={hrefOf(agent, 'send', undefined, { context })}>
            <Icon name="send" />
            Message in this context
          </a>
        )}
        {value.isCut && <span class="muted">Not all tasks are shown.</span>}
      </div>
      <div class="graph-frame">
        <Drawing agent={agent} picture={value} />
      </div>
    </>
  );
}

function Drawing({ agent, picture }: { readonly agent: string; readonly picture: TaskPicture }) {
  const { nodes, edges, width, height } = layoutGraph(picture);
  return (
    <svg
      class="graph"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      aria-label="Tasks and their links"
    >
      <ArrowHead />
      {edges.map(({ edge, path }) => (
        <path
          key={`${edge.from} ${edge.to}`}
          class={`edge edge-${edge.kind}`}
          d={path}
          marker-end="url(#arrow)"
        />
      ))}
      {nodes.map((place) => (
        <TaskNode key={place.node.id} agent={agent} {...place} />
      ))}
    </svg>
  );
}

function ArrowHead() {
  return (
    <defs>
      <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
        <path d="M0,0 L8,4 L0,8 z" />
      </marker>
    </defs>
  );
}

type Place = ReturnType<typeof layoutGraph>['nodes'][number];

function TaskNode({ agent, node, x, y }: Place & { readonly agent: string }) {
  return (
    <a class={`node node-${stateClass(node.state)}`} href={hrefOf(node.agent, 'tasks', node.id)}>
      <title>{[node.title, stateName(node.state), node.agent, node.id].filter(Boolean).join(' · ')}</title>
      <rect x={x} y={y} width={nodeWidth} height={nodeHeight} rx="8" />
      <rect class="node-mark" x={x} y={y + 8} width="4" height={nodeHeight - 16} rx="2" />
      <text class="node-name" x={x + 16} y={y + 22}>
        {oneLine(node.title ?? shortId(node.id), 32)}
      </text>
      <text class="node-state" x={x + 16} y={y + 40}>
        {`${stateName(node.state)}${node.agent === agent ? '' : ` · ${node.agent}`}`}
      </text>
      <text class="node-text" x={x + 16} y={y + 55}>
        {oneLine(saidBeside(node.state, node.text), 36)}
      </text>
    </a>
  );
}

/** The contexts of tasks, the one that changed last first. */
function contextsOf(rows: readonly TaskRow[]): { readonly id: string; readonly tasks: readonly TaskRow[] }[] {
  const groups = Map.groupBy(
    rows.filter(({ contextId }) => contextId !== ''),
    ({ contextId }) => contextId,
  );
  return [...groups].map(([id, tasks]) => ({ id, tasks }));
}
