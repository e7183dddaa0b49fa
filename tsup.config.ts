import { defineConfig } from 'tsup';

// Found from every package. Without it `node:sqlite` is built as `sqlite`, which does not exist.
export default defineConfig({ removeNodeProtocol: false });
