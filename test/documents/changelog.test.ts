import { describe, expect, it } from 'vitest';
import changelog from '../../scripts/release/changelog.ts';

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
