/** The program of the thread that a kind of the user's own runs in. */
import { parentPort, workerData } from 'node:worker_threads'
import { serveKind } from '../strategy/files/serveKind.ts'
import { importedFiles, importKind } from './trustedKinds.ts'

if (parentPort !== null) {
  const { path } = workerData as { readonly path: string }
  await serveKind(parentPort, () => importKind(path), importedFiles)
}
