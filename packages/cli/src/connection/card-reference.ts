import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CachedCard, CardCache } from '@batonjs/client';
import type { AgentCard } from '@batonjs/protocol';
import { isLoopback } from '@batonjs/protocol/headers';
import { CliError } from '../errors/cli-error.ts';

/** What a reference to an agent's card leads to: a URL to read it from, or the card in a file. */
export type CardReference = { readonly url: string } | { readonly file: string; readonly card: AgentCard };

/** Resolves a host, a URL or a file. Throws `CARD_NOT_FOUND` or `CARD_INVALID`. */
export function resolveReference(reference: string, cwd: string): CardReference {
  if (/^https?:\/\//i.test(reference)) return { url: checked(reference) };
  if (/^file:\/\//i.test(reference)) return readFile(pathIn(reference), reference);
  const path = resolve(cwd, reference);
  if (existsSync(path)) return readFile(path, reference);
  if (!/^(\[[\da-f:.]+\]|[\w.-]+)(:\d{1,5})?(\/\S*)?$/i.test(reference) || /^[./]/.test(reference))
    throw notFound(reference, 'is no host, URL or file');
  const [host = ''] = /^(\[.*?\]|[^:/]+)/.exec(reference) ?? [];
  return { url: checked(`${isLoopback(host) ? 'http' : 'https'}://${reference}`) };
}

const notFound = (reference: string, problem: string, cause?: unknown): CliError =>
  new CliError('A2ACLI_ERR_CARD_NOT_FOUND', `${reference} ${problem}`, undefined, cause);

function checked(url: string): string {
  if (!URL.canParse(url)) throw notFound(url, 'is no URL');
  return url;
}

function pathIn(reference: string): string {
  try {
    return fileURLToPath(reference);
  } catch (cause) {
    throw notFound(reference, 'is no path', cause);
  }
}

function readFile(file: string, reference: string): CardReference {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw notFound(reference, 'cannot be read', cause);
  }
  try {
    const card = JSON.parse(text) as AgentCard;
    if (Array.isArray(card.supportedInterfaces) && card.supportedInterfaces.length > 0) return { file, card };
  } catch {
    // Falls through.
  }
  throw new CliError('A2ACLI_ERR_CARD_INVALID', `${reference} is no agent card of A2A 1.0`);
}

/** Keeps cards in files for as long as their agents allow. A cache that cannot be written is none. */
export function fileCardCache(home: string): CardCache {
  const folder = join(home, '.cache/a2a-cli/cards');
  const pathOf = (url: string) => join(folder, `${createHash('sha256').update(url).digest('hex')}.json`);
  return {
    get(url) {
      try {
        return JSON.parse(readFileSync(pathOf(url), 'utf8')) as CachedCard;
      } catch {
        return undefined;
      }
    },
    set(url, cached) {
      if (cached.etag === null && cached.freshUntil <= Date.now()) return;
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileSync(pathOf(url), JSON.stringify(cached), { mode: 0o600 });
      } catch {
        // Read again next time.
      }
    },
  };
}
