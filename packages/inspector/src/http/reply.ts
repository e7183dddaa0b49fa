import type { ServerResponse } from 'node:http';
import { ClientError } from '@batonjs/client';
import { A2AError } from '@batonjs/protocol/errors';
import type { Problem } from '../api/command.ts';
import { responseHeaders } from '../guard/response-headers.ts';

/** An error that the app shows as it is, with the status of its reply. */
export class RequestError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Takes secrets out of JSON. */
export type Hide = (json: string) => string;

/** Where nothing is secret. */
export const asItIs: Hide = (json) => json;

/** Answers with JSON. */
export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  hide: Hide = asItIs,
): void {
  const body = hide(JSON.stringify(value));
  response.writeHead(status, {
    ...responseHeaders,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  response.end(body);
}

/** Answers with an error. Errors of agents are passed on; those of the inspector itself are not shown. */
export function sendProblem(response: ServerResponse, error: unknown, hide: Hide = asItIs): void {
  if (response.headersSent) return void response.destroy();
  sendJson(response, error instanceof RequestError ? error.status : 502, { problem: problemOf(error) }, hide);
}

/** An error as the app shows it. */
export function problemOf(error: unknown): Problem {
  if (error instanceof RequestError) return { message: error.message };
  if (A2AError.is(error)) {
    const { message, reason, metadata, challenge } = error as A2AError & {
      metadata?: unknown;
      challenge?: string;
    };
    return { message, code: reason, ...(metadata || challenge ? { details: { metadata, challenge } } : {}) };
  }
  if (ClientError.is(error)) {
    const cause = error.cause instanceof Error ? error.cause.message : undefined;
    return { message: error.message, code: error.code, ...(cause && { details: { cause } }) };
  }
  const { name, code } = Object(error) as { name?: string; code?: string };
  if (name === 'StoreError') return { message: (error as Error).message, code };
  return { message: 'The inspector failed', code: 'INTERNAL_ERROR' };
}
