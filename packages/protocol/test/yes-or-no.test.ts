import { expect, it } from 'vitest';
import { yesOrNo } from '../src/forms.ts';

it.each<[boolean | undefined, readonly string[]]>([
  [
    true,
    [
      'yes',
      ' YES!\n',
      'y',
      'ok',
      'OK.',
      'Sure',
      'Approved.',
      'Yes, please go ahead',
      'Ok, thank you!',
      'yes do it',
    ],
  ],
  [
    false,
    ['no', 'N', 'Denied.', 'No, thanks', 'no, it is too far', 'Rejected: over budget', 'Decline – not now'],
  ],
  [
    undefined,
    ['', '!', 'ja', 'да', 'maybe', 'Yes, but only tomorrow', 'yes and no', 'no problem, go ahead', 'not yet'],
  ],
  [undefined, ['please', 'I do not approve', 'yesterday', 'know', "don't approve", 'approve 5 of them']],
])('%j is what these words say: %j', (decision, texts) => {
  expect(texts.map((text) => [text, yesOrNo(text)])).toEqual(texts.map((text) => [text, decision]));
});
