import { A2AError } from '@batonjs/protocol/errors';
import { compact } from '@batonjs/protocol/json';
import type { Attributes } from '@opentelemetry/api';
import { attributes as names } from './names.ts';

type Members = Readonly<Record<string, unknown>>;

/** What the params of a call say about it: ids only, never content. */
export function attributesOfParams(params: Members): Attributes {
  const message = object(params.message);
  return compact({
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
  return compact({
    [names.taskId]: text(task.id) ?? text(update.taskId),
    [names.contextId]:
      text(task.contextId) ?? text(update.contextId) ?? text(object(given.message).contextId),
    [names.taskState]: text(object(task.status ?? update.status).state),
  });
}

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'ws:': 80, 'https:': 443, 'wss:': 443 };

let latest: { readonly address: string; readonly attributes: Attributes } | undefined;

/** The host and the port of a URL, or of `host:port`. Remembers the last, because most calls have the same. */
export function attributesOfAddress(address: string | undefined): Attributes {
  if (address === undefined) return {};
  if (latest?.address !== address) latest = { address, attributes: partsOf(address) };
  return latest.attributes;
}

function partsOf(address: string): Attributes {
  const url = address.includes('://') ? address : `grpc://${address}`;
  if (!URL.canParse(url)) return {};
  const { protocol, hostname, port } = new URL(url);
  return compact({
    [names.serverAddress]: hostname || undefined,
    [names.serverPort]: port ? Number(port) : defaultPorts[protocol],
  });
}

/**
 * The kind of an error, without its text: the reason of an `A2AError`, a code, or the name. `_OTHER` if none of them is
 * a single word: agents throw errors whose members hold content.
 */
export function errorType(error: unknown): string {
  const { reason, code, name } = object(error);
  return (A2AError.is(error) ? word(reason) : undefined) ?? word(code) ?? word(name) ?? '_OTHER';
}

const word = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[A-Za-z_][\w.]{0,63}$/.test(value) ? value : undefined;

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
