import type { CallToolResult } from '@modelcontextprotocol/server';
import { textResult } from '../translation/results.ts';
import type { Docs } from './docs.ts';
import type { Arguments } from './tools.ts';

/** The sections of the documentation that fit a query. */
export function searchDocs(
  docs: Docs | undefined,
  { query, limit }: Arguments<'search_docs'>,
): CallToolResult {
  if (!docs) return missing;
  const found = docs.search(query, limit);
  if (found.length === 0)
    return textResult('Nothing is found. read_docs with the page README.md lists all pages');
  return textResult(found.map(({ page, title, excerpt }) => `${page}: ${title}\n  ${excerpt}`).join('\n'));
}

/** A page of the documentation. */
export function readDocs(docs: Docs | undefined, { page }: Arguments<'read_docs'>): CallToolResult {
  if (!docs) return missing;
  const text = docs.read(page);
  if (text !== undefined) return textResult(text);
  return textResult(`There is no page ${page}. The pages are:\n${docs.pages().join('\n')}`, true);
}

const missing = textResult(
  'The documentation is not installed: it comes with the package @batonjs/server, beside the agent',
  true,
);
