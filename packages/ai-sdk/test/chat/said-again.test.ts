import type { AnswerPart } from '@batonjs/client/answers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunksOf } from '../../src/chat/chunks.ts';

/** The texts of the page's parts, in order, after an answer. */
async function shown(...parts: AnswerPart[]): Promise<string[]> {
  async function* all() {
    yield* parts;
    yield { type: 'end' } as const;
  }
  const texts = new Map<string, string>();
  for await (const chunk of chunksOf(all(), 'm-1')) {
    if (chunk.type === 'text-start') expect(texts.has(chunk.id), 'each part is begun once').toBe(false);
    if (chunk.type === 'text-start') texts.set(chunk.id, '');
    if (chunk.type === 'text-delta') texts.set(chunk.id, `${texts.get(chunk.id)}${chunk.delta}`);
  }
  return [...texts.values()];
}

const text = (delta: string): AnswerPart => ({ type: 'text', artifactId: 'answer', delta });
const again = (said: string): AnswerPart => ({ type: 'replaced', artifactId: 'answer', text: said });

describe('a turn that is run again while a page is connected', () => {
  it('goes on after what the page shows, if it says the same', async () => {
    expect(await shown(text('One, '), text('tw'), again('One'), text(', two'), text(', three'))).toEqual([
      'One, two, three',
    ]);
    expect(await shown(text('One'), again('One'))).toEqual(['One']);
    expect(await shown(text('One'), again('O'), text('ne'))).toEqual(['One']);
  });

  it('shows another text below, once', async () => {
    expect(await shown(text('One, tw'), again('One'), text(', too'))).toEqual(['One, tw', 'One, too']);
    expect(await shown(text('One, two'), again('One'))).toEqual(['One, two', 'One']);
    expect(await shown(text('a'), again('b'), again('b'), text('c'))).toEqual(['a', 'bc']);
  });

  it('ends with the whole text in the last part, whatever it says and how often it is run again', async () => {
    const said = fc.array(fc.array(fc.constantFrom('a', 'b', 'ab'), { minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(said, async (attempts) => {
        const parts = attempts.flatMap((pieces, n) =>
          pieces.map((piece, m) => (n > 0 && m === 0 ? again(piece) : text(piece))),
        );
        expect((await shown(...parts)).at(-1)).toBe(attempts.at(-1)!.join(''));
      }),
      { numRuns: 300 },
    );
  });
});
