/** A group of the sidebar. */
export interface Group {
  readonly title: string;
  /** Paths below `docs`, in the order in which they are shown. A page is called by its first heading. */
  readonly pages: readonly string[];
  readonly collapsed?: boolean;
}

/**
 * The groups of the sidebar. Every page below `docs` stands in exactly one of them, decisions aside, which are listed by
 * their numbers.
 */
export const groups: readonly Group[] = [
  {
    title: 'Start',
    pages: [
      'index.md',
      'start/tutorial.md',
      'start/project.md',
      'start/chat.md',
      'start/product.md',
      'start/concepts.md',
      'start/recipes.md',
      'start/comparison.md',
      'start/comparison-engines.md',
      'start/migrate-from-a2a-js.md',
      'start/a2a-0.3.md',
      'start/works-with.md',
    ],
  },
  {
    title: 'Write an agent',
    pages: [
      'agents/turn.md',
      'agents/conversations.md',
      'agents/files.md',
      'agents/streaming.md',
      'agents/questions.md',
      'agents/cancel.md',
      'agents/steps.md',
      'agents/transactions.md',
      'agents/exactly-once.md',
      'agents/retries.md',
      'agents/memory.md',
      'agents/logging.md',
      'agents/scheduling.md',
      'agents/recurring.md',
      'agents/callbacks.md',
      'agents/answer-links.md',
      'agents/nested-tasks.md',
      'agents/ai-sdk.md',
      'agents/language-models.md',
      'agents/mcp.md',
      'agents/mcp-tasks.md',
      'agents/extensions.md',
      'agents/testing.md',
      'agents/assistants.md',
      'agents/conformance-kits.md',
    ],
  },
  {
    title: 'Serve it',
    pages: [
      'serving/frameworks.md',
      'serving/api-keys.md',
      'serving/authentication.md',
      'serving/cookie-sessions.md',
      'serving/other-languages.md',
      'serving/proxy.md',
      'serving/browser.md',
      'serving/react.md',
      'serving/use-chat.md',
      'serving/ag-ui.md',
      'serving/push.md',
      'serving/receive-webhooks.md',
      'serving/gateway.md',
      'serving/grpc.md',
      'serving/websocket.md',
    ],
  },
  {
    title: 'Operate it',
    pages: [
      'operating/production.md',
      'operating/troubleshooting.md',
      'operating/deploy.md',
      'operating/upgrading.md',
      'operating/versions.md',
      'operating/hosts.md',
      'operating/durable-objects.md',
      'operating/containers.md',
      'operating/kubernetes.md',
      'operating/scaling.md',
      'operating/capacity.md',
      'operating/very-large.md',
      'operating/caller-limits.md',
      'operating/costs.md',
      'operating/health.md',
      'operating/telemetry.md',
      'operating/metrics.md',
      'operating/alerts.md',
      'operating/inspector.md',
      'operating/finding-tasks.md',
      'operating/redriving.md',
      'operating/erasing.md',
      'operating/backup.md',
      'operating/outages.md',
      'operating/sql-stores.md',
      'operating/threat-model.md',
      'performance.md',
    ],
  },
  {
    title: 'Look up',
    pages: ['faq.md', 'options.md', 'errors.md', 'releases.md'],
  },
  {
    title: 'How it works',
    collapsed: true,
    pages: ['architecture.md', 'packages.md', 'add-a-store.md', 'preview-1.1.md'],
  },
  {
    title: 'Reports',
    collapsed: true,
    pages: ['reports/conformance.md', 'reports/mutation.md'],
  },
  {
    title: 'Notes of measurements',
    collapsed: true,
    pages: [
      'notes/what-a-request-costs.md',
      'notes/what-was-tried-for-a-cheaper-request.md',
      'notes/what-each-change-added-to-a-send.md',
      'notes/what-a-commit-in-a-store-costs.md',
      'notes/what-kept-tasks-and-followers-cost.md',
      'notes/what-other-inspectors-show.md',
    ],
  },
];
