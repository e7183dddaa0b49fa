import type { AgentCard, Part } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { checkInputModes, checkOutputModes } from '../../../src/operations/card/media-modes.ts';
import { completeCard } from '../../../src/operations/card/served-cards.ts';

const cardOf = (modes: string[], ofSkill: string[] = []): AgentCard =>
  completeCard(
    {
      ...{ name: 'n', description: 'd', defaultInputModes: modes, defaultOutputModes: modes },
      skills: [{ id: 's', name: 's', description: 's', inputModes: ofSkill, outputModes: ofSkill }],
    },
    { capabilities: {}, securitySchemes: undefined, securityRequirements: undefined },
  );
const reads = (modes: string[], ...parts: object[]) =>
  checkInputModes(cardOf(modes), { messageId: 'm', role: 'ROLE_USER', parts: parts as Part[] });
const text = (mediaType?: string) => ({ text: 'x', ...(mediaType && { mediaType }) });

describe('an agent', () => {
  it.each<[string[], object]>([
    [[], text('image/png')],
    [['text/plain'], text()],
    [['text'], text('text/plain')],
    [['TEXT/Plain '], text(' text/PLAIN; charset=utf-8')],
    [['text/*'], text('text/csv')],
    [['*/*'], text('image/png')],
    [['text/plain', 'image/*'], { raw: 'AA==', mediaType: 'image/png' }],
    [['*'], text('image/png')],
    [['application/json'], { data: {} }],
    [['image/png;q=1'], { raw: 'AA==', mediaType: 'image/png' }],
    [['text/plain'], { raw: 'AA==' }],
    [['text/plain'], { url: 'https://example.com' }],
  ])('that reads %j takes %j', (modes, part) => {
    expect(() => reads(modes, part)).not.toThrow();
  });

  it.each<[string[], object, string]>([
    [['text/plain'], text('text/csv'), 'text/csv'],
    [['application/json'], text(), 'text/plain'],
    [['text/plain'], { data: {} }, 'application/json'],
    [['text/*'], text('image/png'), 'image/png'],
    [['image/png'], text('text/png'), 'text/png'],
  ])('that reads %j refuses %j', (modes, part, type) => {
    expect(() => reads(modes, text(modes[0]), part)).toThrow(
      expect.objectContaining({
        reason: 'CONTENT_TYPE_NOT_SUPPORTED',
        message: `message.parts[1] is ${type}; this agent reads ${modes[0]}`,
      }),
    );
  });

  it('reads and writes what its skills do, and names each type once', () => {
    const card = cardOf(['text/plain'], ['image/png', 'text/plain']);
    const message = (mediaType: string) => ({
      ...{ messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'x', mediaType }] },
    });
    for (let n = 0; n < 2; n++) {
      expect(() => checkInputModes(card, message('image/png'))).not.toThrow();
      expect(() => checkInputModes(card, message('text/csv'))).toThrow(
        'this agent reads text/plain, image/png',
      );
    }
    expect(() => checkOutputModes(card, ['image/png'])).not.toThrow();
    expect(() => checkOutputModes(card, ['text/csv'])).toThrow(
      'This agent writes text/plain, image/png, none of which is accepted',
    );
    const { inputModes: _, outputModes: __, ...bare } = card.skills[0]!;
    const plain = { ...card, skills: [bare] };
    expect(() => checkInputModes(plain, message('image/png'))).toThrow('this agent reads text/plain');
    expect(() => checkOutputModes(plain, ['image/png'])).toThrow('This agent writes text/plain, none');
  });

  it.each<[string[], string[] | undefined, boolean]>([
    [['text/plain'], undefined, true],
    [['text/plain'], [], true],
    [[], ['image/png'], true],
    [['text/plain'], ['text/plain'], true],
    [['text/plain'], ['image/png', 'text/*'], true],
    [['text/*'], ['text/csv'], true],
    [['text/plain'], ['*/*'], true],
    [['text/plain'], ['image/png'], false],
    [['text/plain'], ['text/csv', 'image/*'], false],
  ])('that writes %j is accepted by %j: %s', (modes, accepted, isAccepted) => {
    const check = () => checkOutputModes(cardOf(modes), accepted);
    if (isAccepted) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ reason: 'CONTENT_TYPE_NOT_SUPPORTED' }));
  });
});
