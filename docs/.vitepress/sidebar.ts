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
    pages: ['index.md', 'tutorial.md', 'recipes.md', 'comparison.md', 'migrate-from-a2a-js.md', 'a2a-0.3.md'],
  },
  {
    title: 'Write an agent',
    pages: [
      'streaming.md',
      'questions.md',
      'cancel.md',
      'steps.md',
      'scheduling.md',
      'nested-tasks.md',
      'ai-sdk.md',
      'language-models.md',
      'mcp.md',
      'extensions.md',
      'testing.md',
      'conformance-kits.md',
    ],
  },
  {
    title: 'Serve it',
    pages: [
      'frameworks.md',
      'authentication.md',
      'browser.md',
      'push.md',
      'grpc.md',
      'websocket.md',
      'gateway.md',
    ],
  },
  {
    title: 'Operate it',
    pages: [
      'deploy.md',
      'containers.md',
      'scaling.md',
      'caller-limits.md',
      'telemetry.md',
      'inspector.md',
      'backup.md',
      'outages.md',
      'sql-stores.md',
      'threat-model.md',
      'performance.md',
    ],
  },
  {
    title: 'Look up',
    pages: ['options.md', 'errors.md'],
  },
  {
    title: 'How it works',
    collapsed: true,
    pages: [
      'architecture.md',
      'packages.md',
      'add-a-store.md',
      'preview-1.1.md',
      'conformance.md',
      'mutation.md',
    ],
  },
];
