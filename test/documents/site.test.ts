import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkAnchors } from '../../docs/.vitepress/anchors.ts';
import { repository, siteLink, withSiteLinks } from '../../docs/.vitepress/links.ts';
import { firstSentence, writePackageDocs, writePlainPages } from '../../docs/.vitepress/plain-pages.ts';

describe('a link of a page', () => {
  const from = (file: string, target: string, page = file) => siteLink(target, file, page);

  it('to another page stays as it is', () => {
    expect(from('docs/operating/deploy.md', 'backup.md#x')).toBe('backup.md#x');
    expect(from('docs/decisions/0018-etcd.md', '../operating/deploy.md')).toBe('../operating/deploy.md');
  });

  it('to a package leads to its page in the reference', () => {
    expect(from('docs/operating/deploy.md', '../../packages/store-etcd')).toBe(
      '../reference/store-etcd/index.md',
    );
    expect(from('docs/options.md', '../packages/store-etcd')).toBe('reference/store-etcd/index.md');
    const page = 'docs/reference/server/index.md';
    expect(from('packages/server/README.md', '../store-etcd/README.md', page)).toBe('../store-etcd/index.md');
    expect(from('packages/server/README.md', '../../docs/serving/push.md#a', page)).toBe(
      '../../serving/push.md#a',
    );
  });

  it('to another file or folder leads to the repository', () => {
    const blob = `${repository}/blob/main/packages/server/src/options.ts#L1`;
    expect(from('docs/operating/deploy.md', '../../packages/server/src/options.ts#L1')).toBe(blob);
    expect(from('docs/operating/deploy.md', '../../apps/currency')).toBe(
      `${repository}/tree/main/apps/currency`,
    );
  });

  it('to another host, to a place on the page, or to no file is not touched', () => {
    for (const target of [
      'https://a2a-protocol.org/',
      '#sizing',
      '/operating/deploy',
      'missing.md',
      '../../../etc/passwd',
    ])
      expect(from('docs/operating/deploy.md', target)).toBe(target);
  });

  it('is found in text with code, and not in code', () => {
    const text =
      'See [`push`](../../packages/auth), `[x](../../packages/auth)`\n\n```ts\n[y](../../packages/auth)\n```\n';
    expect(withSiteLinks(text, 'docs/serving/push.md', 'docs/serving/push.md')).toBe(
      text.replace('(../../packages/auth)', '(../reference/auth/index.md)'),
    );
  });
});

describe('a built site', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'baton-site-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const page = (path: string, html: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), html);
  };

  it('is refused if a link leads to a heading that is not there', () => {
    page('index.html', '<h2 id="here"><a href="./b/c.html#there"></a><a href="#here"></a>');
    page('b/c.html', '<h2 id="there"><a href="/base/#here"></a><a href="https://x.example/#y"></a>');
    checkAnchors(folder, '/base/');
    page('b/c.html', '<h2 id="moved">');
    expect(() => checkAnchors(folder, '/base/')).toThrow('index.html: ./b/c.html#there');
  });

  it('is in the package of the server too, with a sentence for each page', () => {
    const docs = join(folder, 'docs');
    writePackageDocs(docs);
    const list = readFileSync(join(docs, 'README.md'), 'utf8');
    const links = Array.from(list.matchAll(/\]\(([^)]+)\): (.*)$/gm), ([, page = '', sentence = '']) => ({
      page,
      sentence,
    }));
    expect(links.length).toBeGreaterThan(50);
    for (const { page, sentence } of links) {
      expect(readFileSync(join(docs, page), 'utf8')).toContain('# ');
      expect([page, sentence]).toEqual([page, expect.stringMatching(/^[^#|<]{10,300}$/)]);
    }
    expect(list).not.toContain('reports/');
  });

  it('takes the first sentence of a page, without links and marks', () => {
    expect(firstSentence('start/concepts.md')).toBe(
      'The words of these pages, in the order in which you meet them.',
    );
    expect(firstSentence('agents/mcp.md')).toMatch(/^@?`?@batonjs\/mcp`? connects the two protocols/);
  });

  it('has the Markdown of each page, a list of all, and one file with the text of those that are written', () => {
    const pages = ['index.md', 'serving/grpc.md'];
    writePlainPages({ outDir: folder, base: '/base/', pages, description: 'Tasks' });
    const text = (name: string) => readFileSync(join(folder, name), 'utf8');
    expect(text('index.md')).toMatch(/^# A task outlives its process\n/);
    expect(text('llms.txt')).toContain('- [Home](/base/index.md): Baton keeps the work of an AI agent safe');
    expect(text('llms.txt')).not.toContain('reports/');
    expect(text('serving/grpc.md')).toContain('[Its README](../reference/bindings-grpc/index.md)');
    expect(text('llms.txt')).toContain('# Baton\n\n> Tasks');
    expect(text('llms.txt')).toContain('- [A2A over gRPC](/base/serving/grpc.md)');
    expect(text('llms-full.txt')).toContain('# A2A over gRPC');
    expect(text('llms-full.txt')).not.toContain('# Conformance\n');
  });
});
