// For the other packages of Baton. It may change in every release.
export { type ReadSchema, readJsonSchema } from './json-schema/read-json-schema.ts';
