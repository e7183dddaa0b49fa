import type { AgentEvent, AgentReply } from '@batonjs/client';
import type { AgentCard, Artifact, Message, Part, Task, TaskStatus } from '@batonjs/protocol';
import type { Output } from './output.ts';

/** Shows the parts of a message or artifact; none is left out. */
export function showParts(output: Output, parts: readonly Part[], label: string): void {
  for (const part of parts) {
    if ('text' in part && part.text !== undefined) output.block(label, part.text);
    else if ('data' in part) output.block(`${label} Data`, JSON.stringify(part.data, undefined, 2));
    else output.field(`${label} File`, describeFile(part));
  }
}

/** Name, media type and size of a file, or where it is. */
export function describeFile(part: Part): string {
  const { filename = 'unnamed', mediaType = 'unknown type' } = part;
  if ('url' in part && part.url !== undefined) return `${filename} (${mediaType}, at ${part.url})`;
  const bytes = 'raw' in part && part.raw !== undefined ? Buffer.byteLength(part.raw, 'base64') : 0;
  return `${filename} (${mediaType}, ${bytes} bytes)`;
}

/** Which task it is, and its state. */
export const idFields = ({ id, contextId = '', status }: Task) =>
  [
    ['Task ID', id],
    ['Context ID', contextId],
    ['State', status.state],
  ] as const;

/** Shows a task; its history only if it is asked for, or with `--verbose`. */
export function showTask(output: Output, task: Task, withHistory = output.isVerbose): void {
  output.fields(idFields(task));
  if (output.isVerbose && task.status.timestamp) output.field('Changed', task.status.timestamp);
  showStatusMessage(output, task.status);
  for (const artifact of task.artifacts ?? []) showArtifact(output, artifact);
  if (output.isVerbose && task.metadata)
    output.block('Metadata', JSON.stringify(task.metadata, undefined, 2));
  for (const message of withHistory ? (task.history ?? []) : []) showMessage(output, message);
}

function showStatusMessage(output: Output, { message }: TaskStatus): void {
  if (message) showParts(output, message.parts, 'Status Message');
}

export function showArtifact(output: Output, { artifactId, name, parts }: Artifact): void {
  output.field('Artifact', name === undefined ? artifactId : `${name} (${artifactId})`);
  showParts(output, parts, 'Content');
}

export function showMessage(output: Output, { messageId, role, parts, contextId }: Message): void {
  output.field('Message ID', messageId);
  output.field('Role', role);
  if (contextId !== undefined) output.field('Context ID', contextId);
  showParts(output, parts, 'Message');
}

/** Shows an answer in the format of the command: `SendMessageResponse`. */
export function showReply(output: Output, { task, message }: AgentReply): void {
  if (output.isJson) output.json(task ? { task } : { message });
  else if (task) showTask(output, task);
  else if (message) showMessage(output, message);
}

/** Shows one event of a stream: `StreamResponse`. */
export function showEvent(output: Output, event: AgentEvent): void {
  if (output.isJson) return void output.json(event);
  const { task, message, statusUpdate, artifactUpdate } = event;
  if (task) showTask(output, task);
  else if (message) showMessage(output, message);
  else if (statusUpdate) {
    output.field('State', statusUpdate.status.state);
    showStatusMessage(output, statusUpdate.status);
  } else if (artifactUpdate) showArtifact(output, artifactUpdate.artifact);
}

export function showCard(output: Output, card: AgentCard): void {
  output.field('Name', card.name);
  output.field('Description', card.description);
  output.field('Version', card.version);
  if (card.provider) output.field('Provider', `${card.provider.organization} (${card.provider.url})`);
  for (const { protocolBinding, protocolVersion, url, tenant } of card.supportedInterfaces)
    output.field(
      'Interface',
      `${protocolBinding} ${protocolVersion} ${url}${tenant ? ` tenant ${tenant}` : ''}`,
    );
  const { streaming = false, pushNotifications = false, extendedAgentCard = false } = card.capabilities ?? {};
  output.field('Streaming', streaming);
  output.field('Push Notifications', pushNotifications);
  output.field('Extended Card', extendedAgentCard);
  for (const { uri, required } of card.capabilities?.extensions ?? [])
    output.field('Extension', `${uri}${required ? ' (required)' : ''}`);
  for (const [name, scheme] of Object.entries(card.securitySchemes ?? {}))
    output.field('Security Scheme', `${name} (${Object.keys(scheme)[0]?.replace('SecurityScheme', '')})`);
  for (const { schemes = {} } of card.securityRequirements ?? [])
    output.field('Requires', Object.keys(schemes).join(' and '));
  output.field('Input Modes', (card.defaultInputModes ?? []).join(', '));
  output.field('Output Modes', (card.defaultOutputModes ?? []).join(', '));
  for (const { id, name, description } of card.skills ?? [])
    output.field('Skill', `${id}: ${name}. ${description}`);
}
