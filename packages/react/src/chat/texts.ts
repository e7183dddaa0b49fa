/** The words of `Chat` in English, its default. */
export const english = {
  lang: 'en',
  newChat: 'New chat',
  conversations: 'Conversations',
  message: 'Message',
  answer: 'Your answer',
  send: 'Send',
  stop: 'Stop',
  copy: 'Copy',
  copied: 'Copied',
  edit: 'Edit',
  again: 'Try again',
  newest: 'Jump to newest',
  earlier: 'Show earlier messages',
  offline: 'Connection lost. The answer goes on without you.',
  unreachable: 'The agent cannot be reached.',
  working: 'Working…',
  steps: 'What was done',
  failed: 'The agent could not finish.',
  stopped: 'Stopped.',
  allow: 'Allow',
  deny: 'Deny',
};

/** All words of `Chat`: pass an object of your own for another language or tone. `lang` is as HTML names languages. */
export type ChatTexts = Readonly<typeof english>;
