'use client';

export { FORM_INPUT } from '@batonjs/protocol/forms';
export { Chat, type ChatProps } from './chat/chat.tsx';
export type { ChatConversation, Highlight } from './chat/parts.tsx';
export { type ChatTexts, english, german } from './chat/texts.ts';
