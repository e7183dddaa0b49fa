/** The process that asks. Its work is checked: a wrong answer is an error. */
import { answer } from '../harness/worker.ts';
import { chunks } from './chunks.ts';
import { coldStart } from './cold-start.ts';
import { begin, follow, followEach, followed } from './follow.ts';
import { grpc, grpcBegin, grpcFollow, grpcFollowed, grpcSamples } from './grpc.ts';
import { reads, walk } from './reads.ts';
import { record, resume } from './resume.ts';
import { sampleOf, sends } from './sends.ts';
import { sampleStream, streamsAtOnce, streamsInTurn } from './streams-at-once.ts';
import { closeSockets, openSockets, watchedTasks, watchTasks } from './updates.ts';

const questions = {
  sends,
  sampleOf,
  chunks,
  begin,
  follow,
  followEach,
  followed,
  reads,
  walk,
  record,
  resume,
  coldStart,
  watchTasks,
  watchedTasks,
  openSockets,
  closeSockets,
  streamsAtOnce,
  streamsInTurn,
  sampleStream,
  grpc,
  grpcSamples,
  grpcBegin,
  grpcFollow,
  grpcFollowed,
};

export type Load = typeof questions;

answer(questions);
