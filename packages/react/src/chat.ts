'use client';

export { Chat, type ChatProps } from './chat/chat.tsx';
export { type ChatTexts, english } from './chat/texts.ts';
