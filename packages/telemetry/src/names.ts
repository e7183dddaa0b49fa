/** Attributes of the OpenTelemetry conventions for A2A and for generative AI (development), and their own ones. */
export const attributes = {
  method: 'a2a.method.name',
  messageId: 'a2a.message.id',
  referenceTaskIds: 'a2a.message.reference_task_ids',
  taskId: 'a2a.task.id',
  taskState: 'a2a.task.state',
  tenant: 'a2a.tenant',
  protocolVersion: 'a2a.protocol.version',
  contextId: 'gen_ai.conversation.id',
  agentName: 'gen_ai.agent.name',
  agentVersion: 'gen_ai.agent.version',
  model: 'gen_ai.request.model',
  tokenType: 'gen_ai.token.type',
  currency: 'baton.currency',
  errorType: 'error.type',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  clientAddress: 'client.address',
  httpStatus: 'http.response.status_code',
  binding: 'baton.binding',
  turn: 'baton.turn.number',
  attempt: 'baton.attempt',
  cause: 'baton.turn.cause',
  halted: 'baton.turn.halted',
  step: 'baton.step.name',
  stepAttempt: 'baton.step.attempt',
  webhook: 'baton.push.config_id',
  outcome: 'baton.push.outcome',
  queue: 'baton.queue',
  operation: 'baton.store.operation',
  databaseSystem: 'db.system.name',
  reason: 'baton.reason',
  serviceVersion: 'service.version',
} as const;

/** Names of spans that are no operation of the protocol. */
export const spans = { turn: 'baton.turn', step: 'baton.step', push: 'baton.push' } as const;

/** Names of events in spans. */
export const events = {
  retry: 'baton.retry',
  resumed: 'baton.resumed',
  stepReplayed: 'baton.step.replayed',
} as const;

/** The name under which tracers and meters are made. */
export const scope = '@batonjs/telemetry';
