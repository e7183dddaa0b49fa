import { writtenByScripts } from './pages.ts';

/** What people call the subject of a page, where the page has another word for it. */
const alsoCalled: Readonly<Record<string, string>> = {
  'agents/answer-links.md':
    'approve approval approving human in the loop person manager sign off mail email slack button',
  'agents/assistants.md': 'claude code cursor copilot coding assistant skill AGENTS.md',
  'agents/exactly-once.md': 'idempotent idempotency duplicate twice exactly once guarantee',
  'agents/files.md': 'upload attach attachment image picture pdf download binary',
  'agents/language-models.md': 'langchain langgraph openai mastra genkit llm anthropic gemini',
  'agents/logging.md': 'secret secrets redact mask pii password sensitive pino log logs',
  'agents/questions.md': 'ask user input human in the loop form',
  'agents/recurring.md': 'cron every night nightly daily hourly schedule repeat job',
  'agents/scheduling.md': 'sleep delay wait for days hours later priority timer',
  'agents/testing.md': 'unit test mock fake vitest jest ci',
  'operating/capacity.md': 'price cost how many tasks per second sizing money',
  'operating/deploy.md': 'production deployment hosting cluster high availability',
  'operating/erasing.md': 'gdpr privacy personal data delete user right to be forgotten dsgvo ccpa remove',
  'operating/hosts.md': 'lambda serverless vercel fly cloud run aws azure systemd heroku railway',
  'operating/kubernetes.md': 'k8s helm chart autoscale pod',
  'operating/metrics.md': 'prometheus grafana counter',
  'operating/outages.md': 'incident database down disk full',
  'operating/redriving.md': 'dead letter retry failed tasks again replay redrive stuck',
  'operating/sql-stores.md': 'mysql mariadb sql server cockroach',
  'operating/telemetry.md': 'opentelemetry otel tracing trace span datadog',
  'operating/threat-model.md': 'security ssrf attack audit hardening prompt injection',
  'agents/streaming.md': 'stream streaming token tokens sse chunk chunks',
  'operating/troubleshooting.md': 'problem error does not work stuck hangs debug',
  'operating/upgrading.md': 'upgrade update migrate schema rollback rolling new version',
  'operating/versions.md': 'deploy new code while tasks run old version versions of agent',
  'performance.md': 'benchmark fast latency throughput overhead price cost',
  'serving/ag-ui.md': 'copilotkit',
  'serving/authentication.md': 'jwt oauth oidc login bearer token multi tenant auth0 keycloak',
  'serving/browser.md': 'cors frontend web page',
  'serving/cookie-sessions.md': 'login next-auth auth.js clerk signed in session user',
  'serving/frameworks.md': 'express fastify hono koa nest next bun deno mount',
  'serving/other-languages.md': 'python go golang java rust php ruby curl http rest api call',
  'serving/proxy.md': 'nginx caddy tls https load balancer ingress alb reverse proxy helmet compression',
  'serving/push.md': 'webhook webhooks notify notification callback url signature sign',
  'serving/react.md': 'chat ui widget frontend component markdown dark nextjs',
  'serving/use-chat.md': 'vercel ai sdk ui chat usechat',
  'start/comparison-engines.md':
    'temporal dbos inngest restate trigger.dev hatchet workflow durable execution versus alternative',
  'start/comparison.md': 'alternative versus a2a-js sdk',
  'start/concepts.md': 'glossary words terminology what is',
  'start/tutorial.md': 'install getting started quickstart hello world first',
};

/**
 * The HTML of a page as the search reads it, with what its subject is also called. Tables that a script writes are left
 * out: they would be a third of the index, and hide the pages that are meant to be read.
 */
export function toSearch(page: string, html: string): string {
  if (writtenByScripts.includes(page)) return '';
  const words = alsoCalled[page];
  return words ? html.replace('</h1>', `</h1>\n<p>${words} ${words}</p>`) : html;
}

/** A word as it is found; null for those that every question has. Endings are cut. Runs in the browser. */
export function termOf(word: string): string | null {
  const term = word.toLowerCase();
  const stops =
    /^(a|about|an|and|any|are|as|at|be|by|can|could|did|do|does|for|from|get|has|have|how|i|if|in|into|is|it|its|let|make|may|me|my|need|of|on|one|or|our|out|set|should|so|some|someone|that|the|their|them|then|there|these|they|this|to|up|use|using|much|not|want|was|way|we|what|when|where|which|who|why|will|with|without|would|you|your)$/;
  if (stops.test(term)) return null;
  return term.length > 4 ? term.replace(/(ings?|ed|es|s|e)$/, '') : term;
}

/** How much a match counts. Decisions and the reference of types come last. Runs in the browser. */
function weigh(called: Readonly<Record<string, readonly string[]>>, id: string, term: string): number {
  const [page = ''] = /[\w-]+\/[\w.-]+?(?=\.html|#|$)/.exec(id) ?? [];
  if (/\/(decisions|reference|notes)\//.test(id)) return 0.2;
  if (called[page]?.includes(term)) return 6;
  return /\/(options|errors|recipes|releases)(\.html|#|$)/.test(id) ? 0.7 : 1;
}

const terms = Object.entries(alsoCalled).map(([page, words]) => [
  page.replace('.md', ''),
  words.split(' ').flatMap((word) => termOf(word) ?? []),
]);

/** Titles first, and what a page is also called; all words before any of them. Its functions run in the browser. */
export const searchOptions = {
  boost: { title: 4, titles: 1.5, text: 1 },
  fuzzy: (term: string): number | false => (term.length > 5 ? 0.15 : false),
  prefix: (term: string): boolean => term.length > 2,
  weights: { fuzzy: 0.15, prefix: 0.3 },
  boostDocument: new Function(
    'id',
    'term',
    `return (${weigh})(${JSON.stringify(Object.fromEntries(terms))}, id, term)`,
  ) as (id: string, term: string) => number,
};
