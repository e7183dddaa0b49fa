/** The process that asks. Its work is checked: a wrong answer is an error. */
import { answer } from '../harness/worker.ts';
import { chunks } from './chunks.ts';
import { begin, follow, followed } from './follow.ts';
import { sampleOf, sends } from './sends.ts';

const questions = { sends, sampleOf, chunks, begin, follow, followed };

export type Load = typeof questions;

answer(questions);
