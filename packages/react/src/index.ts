'use client';

export type { Connection } from './feeds/connection.ts';
export type { Conversed, SentMessage } from './feeds/conversation-feed.ts';
export type { FollowedTask, ListedTasks, ListOptions } from './feeds/task-feed.ts';
export { type Question, QuestionForm, type QuestionFormProps } from './form/question-form.tsx';
export { type UsedConversation, useConversation } from './use-conversation.ts';
export { type UsedTask, useTask } from './use-task.ts';
export { type UsedTasks, useTasks } from './use-tasks.ts';
export { type UploadedFile, type UsedUpload, useUpload } from './use-upload.ts';
