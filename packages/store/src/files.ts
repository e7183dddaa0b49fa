export * from './bucket-files.ts';
export * from './port/file-store.ts';
