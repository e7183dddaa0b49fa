import { root } from '../repository/source-files.ts';

/** A program: says where its source stands, and where a source that it imports says that the repository is. */
process.stdout.write(JSON.stringify([import.meta.dirname, root]));
