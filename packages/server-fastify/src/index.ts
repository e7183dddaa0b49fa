export { a2aFastify } from './a2a-fastify.ts';
