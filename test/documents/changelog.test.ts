import { describe, expect, it } from 'vitest';
import changelog from '../../scripts/release/changelog.ts';
import { firstChangelog, headlines } from '../../scripts/release/first-changelog.ts';

describe('the CHANGELOG of a release', () => {
  it('has the words of a changeset as one item, or as the items of its list, without a hash', () => {
    const line = (summary: string) => changelog.getReleaseLine({ summary });
    expect(line('Streams resume.\nIn any process.\n\nAlso in others.\n')).toBe(
      '- Streams resume.\n  In any process.\n\n  Also in others.',
    );
    expect(line('- One.\n- Two,\n  with a line more.')).toBe('- One.\n- Two,\n  with a line more.');
  });

  it('names what a package works with in one line', () => {
    const updated = [
      { name: '@batonjs/store', newVersion: '0.2.0' },
      { name: '@batonjs/server', newVersion: '0.3.1' },
    ];
    expect(changelog.getDependencyReleaseLine([{}, {}], updated)).toBe(
      '- Works with @batonjs/store 0.2.0, @batonjs/server 0.3.1.',
    );
    expect(changelog.getDependencyReleaseLine([{}], [])).toBe('');
  });
});

describe('the CHANGELOG of a first release', () => {
  it('has the first sentence of each change, with a second one where the first is short', () => {
    expect(headlines('Limits hold. `factsPerTask` counts all facts. More of it.')).toEqual([
      'Limits hold. `factsPerTask` counts all facts.',
    ]);
    expect(headlines('The option `clocks.now` of `server.fetch` v1.0 is there. And another.')).toEqual([
      'The option `clocks.now` of `server.fetch` v1.0 is there.',
    ]);
    expect(headlines('Clients understand more:\n\n- One thing.\n- Another\n  one.')).toEqual([
      'One thing.',
      'Another one.',
    ]);
  });

  it('says what the package is, each thing once, and nothing of what an unreleased state did', () => {
    const features = ['Agents are functions.', 'Agents are functions.', 'Lists no longer count.'];
    const released = { name: '@batonjs/x', version: '0.1.0', description: 'An example.', features };
    expect(firstChangelog(released)).toBe(
      '# @batonjs/x\n\n## 0.1.0\n\nFirst release. An example.\n\n- Agents are functions.\n',
    );
    expect(firstChangelog({ ...released, features: [] })).toBe(
      '# @batonjs/x\n\n## 0.1.0\n\nFirst release. An example.\n',
    );
  });
});
