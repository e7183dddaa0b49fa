/** Uploads a file with `tus-js-client`, and says how far it is: `node tus-client.ts <address> <path>`. */
import { createReadStream } from 'node:fs';
import { Upload } from 'tus-js-client';

const [endpoint = '', path = ''] = process.argv.slice(2);
const upload = new Upload(createReadStream(path), {
  endpoint,
  metadata: { filename: 'film.mp4', filetype: 'video/mp4' },
  retryDelays: Array(40).fill(500),
  onProgress: (sent) => console.log(`sent ${Math.floor(sent / 1_048_576)} MiB`),
  onAfterResponse: (request, response) => {
    if (request.getMethod() === 'HEAD') console.log(`goes on at ${response.getHeader('Upload-Offset')}`);
  },
  onSuccess: () => console.log(`done ${upload.url}`),
  onError: (error) => {
    throw error;
  },
});
upload.start();
