export { type V03GrpcOptions, v03Grpc } from './protobuf/v03-grpc.ts';
export { type Translated, type Translation, translations } from './translation/translations.ts';
export { type V03ClientOptions, type V03Options, v03, v03Client } from './v03.ts';
export type { FileBytes } from './wire/codec.ts';
export { type Loss, type LossCode, losses, type OnLoss } from './wire/loss.ts';
export type * from './wire/objects.ts';
