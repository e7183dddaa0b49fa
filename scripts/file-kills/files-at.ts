import { folderFiles, s3Files } from '@batonjs/server-node';
import type { FileStore } from '@batonjs/store/files';

/** The files of a folder, or of the bucket of a strict small server of S3 at this address. */
export const filesAt = (folder: string, s3: string | undefined): FileStore =>
  s3 === undefined
    ? folderFiles(folder)
    : s3Files({
        endpoint: s3,
        bucket: 'files',
        credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
      });
