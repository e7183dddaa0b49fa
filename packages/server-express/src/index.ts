export { a2aExpress } from './a2a-express.ts';
