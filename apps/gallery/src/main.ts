import { agentsAt } from './agents.ts';
import { startGallery } from './start-gallery.ts';

await startGallery(agentsAt, process.env);
