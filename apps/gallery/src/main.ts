import { agents } from './agents.ts';
import { startGallery } from './start-gallery.ts';

await startGallery(agents, process.env);
