// For the other packages of Baton. It may change in every release.

export { askedIn, asOwn } from './form-input/own-forms.ts';
export {
  type Asked,
  type FrontAgent,
  type FrontDoor,
  type FrontDoorOptions,
  type FrontReply,
  frontDoor,
  logError,
  refused,
} from './front/front-door.ts';
export { type ReadSchema, readJsonSchema } from './json-schema/read-json-schema.ts';
export { skillSchemas } from './typed-skills/call-skill.ts';
