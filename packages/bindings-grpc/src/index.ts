export { a2aServiceName } from './wire/a2a-service.ts';
