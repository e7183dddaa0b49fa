import type { Attributes } from '@opentelemetry/api';
import { attributes as names } from './names.ts';

type Members = Readonly<Record<string, unknown>>;

/** What the params of a call say about it: ids only, never content. */
export function attributesOfParams(params: Members): Attributes {
  const message = object(params.message);
  return defined({
    [names.messageId]: text(message.messageId),
    [names.referenceTaskIds]: texts(message.referenceTaskIds),
    [names.taskId]: text(message.taskId) ?? text(params.taskId) ?? text(params.id),
    [names.contextId]: text(message.contextId) ?? text(params.contextId),
    [names.tenant]: text(params.tenant),
  });
}

/** What the result of an operation, or an event of a stream, says about its task: ids and the state. */
export function attributesOfResult(result: unknown): Attributes {
  const given = object(result);
  const update = object(given.statusUpdate ?? given.artifactUpdate);
  const task = object(given.task ?? (given.status && given.id ? given : undefined));
  return defined({
    [names.taskId]: text(task.id) ?? text(update.taskId),
    [names.contextId]:
      text(task.contextId) ?? text(update.contextId) ?? text(object(given.message).contextId),
    [names.taskState]: text(object(task.status ?? update.status).state),
  });
}

/** The host of a URL, and its port if it names one. */
export function attributesOfAddress(url: string | undefined): Attributes {
  if (url === undefined || !URL.canParse(url)) return {};
  const { hostname, port } = new URL(url);
  return defined({ [names.serverAddress]: hostname, [names.serverPort]: port ? Number(port) : undefined });
}

/** The kind of an error, without its text: the reason of the protocol, a code, or the name. */
export function errorType(error: unknown): string {
  const { reason, code, name } = object(error);
  return text(reason) ?? text(code) ?? text(name) ?? '_OTHER';
}

const object = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {};

/** The longest text that becomes an attribute, in characters: ids are shorter. */
const longest = 256;

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, longest) : undefined;

function texts(value: unknown): string[] | undefined {
  const list = Array.isArray(value) ? value.map(text).filter((item) => item !== undefined) : [];
  return list.length > 0 ? list.slice(0, 32) : undefined;
}

const defined = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
