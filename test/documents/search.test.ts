import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import MiniSearch from 'minisearch';
import { beforeAll, describe, expect, it } from 'vitest';
import { docs, writtenPages } from '../../docs/.vitepress/pages.ts';
import { searchOptions, termOf, toSearch } from '../../docs/.vitepress/search.ts';

/** What a person types, and the page that must be among the first three. */
const questions: Readonly<Record<string, string>> = {
  'how do I install it': 'start/tutorial',
  'what is a turn': 'start/concepts',
  'test an agent': 'agents/testing',
  'unit test without a server': 'agents/testing',
  'let a person approve': 'agents/answer-links',
  'human in the loop': 'agents/answer-links',
  'approve by email': 'agents/answer-links',
  'keep secrets out of logs': 'agents/logging',
  'redact personal data in logs': 'agents/logging',
  gdpr: 'operating/erasing',
  'delete the data of a user': 'operating/erasing',
  'ask the user a question': 'agents/questions',
  'question with a form': 'agents/questions',
  'retry a step that failed': 'agents/retries',
  'is an effect done exactly once': 'agents/exactly-once',
  'run every night': 'agents/recurring',
  'wait for three days': 'agents/scheduling',
  'call it from python': 'serving/other-languages',
  'golang client': 'serving/other-languages',
  'behind nginx': 'serving/proxy',
  'load balancer tls': 'serving/proxy',
  'next.js': 'serving/frameworks',
  'chat ui in react': 'serving/react',
  'upload a file': 'agents/files',
  'stream tokens of a model': 'agents/streaming',
  langgraph: 'agents/language-models',
  'openai tools approval': 'agents/ai-sdk',
  'cancel a running task': 'agents/cancel',
  'jwt login': 'serving/authentication',
  'api key': 'serving/api-keys',
  'webhook signature': 'serving/push',
  'deploy to kubernetes': 'operating/kubernetes',
  'aws lambda serverless': 'operating/hosts',
  'upgrade to a new version': 'operating/upgrading',
  'deploy new code while tasks run': 'operating/versions',
  'temporal alternative': 'start/comparison-engines',
  'how much does it cost': 'operating/capacity',
  'task is stuck': 'operating/troubleshooting',
  'run a failed task again': 'operating/redriving',
  prometheus: 'operating/metrics',
  'cursor or claude code': 'agents/assistants',
  'redis is down': 'operating/outages',
  'list of agents at one address': 'serving/frameworks',
  'erase a person': 'operating/erasing',
  'where do files lie': 'agents/files',
};

/** A section of a page, as VitePress cuts them. */
interface Section {
  readonly id: string;
  readonly title: string;
  readonly titles: readonly string[];
  readonly text: string;
}

/** The sections of a page. Its Markdown stands for what is rendered: words count, marks do not. */
function sectionsOf(page: string): Section[] {
  const path = `/${page.replace(/\.md$/, '.html')}`;
  const text = readFileSync(join(docs, page), 'utf8');
  const html = toSearch(page, text.replace(/^# (.+)$/m, '# $1</h1>'));
  const [, ...parts] = `\n${html}`.split(/^(?=#{1,3} )/m);
  const above: string[] = [];
  return parts.map((part, index) => {
    const [head = '', ...lines] = part.split('\n');
    const depth = head.indexOf(' ');
    const title = head.slice(depth + 1).replace('</h1>', '');
    const titles = above.slice(0, depth - 1);
    above.length = depth - 1;
    above.push(title);
    return {
      id: `${path}#${index}`,
      title,
      titles,
      text: lines.join('\n').replaceAll(/<[^>]+>|\]\([^)]+\)/g, ' '),
    };
  });
}

describe('the search of the site', () => {
  const index = new MiniSearch<Section>({
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    processTerm: termOf,
    searchOptions,
  });
  beforeAll(() => index.addAll(writtenPages().flatMap(sectionsOf)));
  const found = (words: string) => [
    ...new Set(index.search(words).map(({ id }) => id.slice(1).replace(/\.html.*/, ''))),
  ];

  it.each(Object.entries(questions))('%s: %s is among the first three', (words, page) => {
    expect(found(words).slice(0, 3), found(words).slice(0, 8).join(' ')).toContain(page);
  });

  it('finds no report, and nothing by words that every question has', () => {
    expect(found('conformance requirement row').filter((page) => page.startsWith('reports/'))).toEqual([]);
    expect(found('how do I make it')).toEqual([]);
  });

  it('runs in a browser: what it calls is in it', () => {
    for (const given of [termOf, searchOptions.boostDocument, searchOptions.fuzzy, searchOptions.prefix]) {
      const alone = new Function(`return (${given})`)() as (text: string) => unknown;
      expect(alone('/decisions/Testing')).toEqual((given as (text: string) => unknown)('/decisions/Testing'));
    }
  });
});
