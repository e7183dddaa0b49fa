export { type V03GrpcOptions, v03Grpc } from './protobuf/v03-grpc.ts';
export { type Translated, type Translation, translations } from './translation/translations.ts';
export { type V03ClientOptions, type V03Options, v03, v03Client } from './v03.ts';
export type { FileBytes } from './wire/codec.ts';
export { type Loss, type LossCode, losses, type OnLoss } from './wire/loss.ts';
export type {
  V03AgentCard,
  V03Artifact,
  V03ArtifactUpdate,
  V03DataPart,
  V03Error,
  V03Event,
  V03File,
  V03FilePart,
  V03Flows,
  V03Message,
  V03Part,
  V03PushConfig,
  V03SecurityScheme,
  V03SendParams,
  V03Skill,
  V03StatusUpdate,
  V03Task,
  V03TaskParams,
  V03TaskPushConfig,
  V03TaskState,
  V03TaskStatus,
  V03TextPart,
} from './wire/objects.ts';
