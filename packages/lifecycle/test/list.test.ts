import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addMessage, emptyConversation, messageOf, positionOf } from '../src/facts/conversation.ts';
import { append, emptyList, type List, toArray, toList } from '../src/values/list.ts';
import { said } from './given.ts';

describe('a list', () => {
  it('shows an older list none of the items that were added later', () => {
    const one = append(emptyList as List<string>, 'a');
    const two = append(one, 'b');
    const three = append(two, 'c');
    expect([emptyList, one, two, three].map(toArray)).toEqual([[], ['a'], ['a', 'b'], ['a', 'b', 'c']]);
  });

  it('goes its own way where two lists continue the same one', () => {
    const common = toList(['a']);
    const left = append(common, 'left');
    const right = append(common, 'right');
    expect(toArray(append(left, 'more'))).toEqual(['a', 'left', 'more']);
    expect(toArray(append(right, 'more'))).toEqual(['a', 'right', 'more']);
    expect(toArray(left)).toEqual(['a', 'left']);
    expect(toArray(common)).toEqual(['a']);
  });

  it('shares its items with no other list', () => {
    const items = ['a'];
    const list = toList(items);
    items.push('b');
    toArray(list).push('c');
    expect(toArray(list)).toEqual(['a']);
  });

  it('starts again each time from the empty one', () => {
    append(emptyList as List<string>, 'a');
    expect(emptyList).toEqual({ items: [], length: 0 });
    expect(toArray(append(emptyList as List<string>, 'b'))).toEqual(['b']);
  });

  it('is what an array would be, whichever earlier list is continued', () => {
    // Each number says which of the lists made so far is continued.
    fc.assert(
      fc.property(fc.array(fc.nat(1_000), { maxLength: 60 }), (choices) => {
        const lists: { list: List<number>; model: number[] }[] = [{ list: emptyList, model: [] }];
        choices.forEach((choice, item) => {
          const { list, model } = lists[choice % lists.length]!;
          lists.push({ list: append(list, item), model: [...model, item] });
        });
        for (const { list, model } of lists) expect(toArray(list)).toEqual(model);
      }),
    );
  });
});

describe('a conversation', () => {
  it('is what a list of messages without repetitions would be, whichever earlier one is continued', () => {
    const steps = fc.array(fc.tuple(fc.nat(1_000), fc.nat(12)), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (choices) => {
        const all = [{ conversation: emptyConversation, model: [] as string[] }];
        for (const [choice, number] of choices) {
          const { conversation, model } = all[choice % all.length]!;
          const id = `m${number}`;
          all.push({
            conversation: addMessage(conversation, said(id)),
            model: model.includes(id) ? model : [...model, id],
          });
        }
        for (const { conversation, model } of all) {
          expect(toArray(conversation.messages).map(({ messageId }) => messageId)).toEqual(model);
          for (let number = 0; number <= 12; number++) {
            expect(positionOf(conversation, `m${number}`)).toBe(model.indexOf(`m${number}`));
            expect(messageOf(conversation, `m${number}`)?.messageId).toBe(
              model.find((id) => id === `m${number}`),
            );
          }
        }
      }),
    );
  });

  it('contains no text that was not added', () => {
    for (const id of ['', 'constructor', '__proto__', '0']) {
      expect(positionOf(addMessage(emptyConversation, said('m1')), id)).toBe(-1);
      expect(messageOf(addMessage(emptyConversation, said('m1')), id)).toBeUndefined();
    }
  });
});
