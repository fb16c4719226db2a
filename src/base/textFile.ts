/** Files of text that people write: UTF-8, with or without the mark that some programs put before it. */
import { lstatSync, readFileSync, readlinkSync, statSync } from 'node:fs'

/** A file whose bytes are no text that is read here. A SyntaxError: nothing can be read of it. */
export class TextFileError extends SyntaxError {
  override readonly name = 'TextFileError'
}

/** The text of a file. Throws what reading it throws, and TextFileError for what is no file, or no text. */
export function readTextFile(path: string): string {
  return textOfBytes(readFileBytes(path))
}

/** The bytes of a file, of whatever kind. Throws what reading it throws, and TextFileError for what is no file. */
export function readFileBytes(path: string): Uint8Array {
  refuseNoFile(path)
  return readFileSync(path)
}

/** A pipe that this process was handed, as a shell hands over what another command prints. */
const ownPipe = /^\/(?:dev|proc\/self)\/fd\/\d+$/

/** Throws TextFileError for a path where no file can be read. Where nothing is, the system says so. */
function refuseNoFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return
    throw new TextFileError(`it is a link to ${readlinkSync(path)}, which does not exist`)
  }
  if (found.isDirectory()) throw new TextFileError('it is a folder, but a file is expected')
  // Nobody may ever write to a pipe, and a device may never end.
  if (!found.isFile() && !(found.isFIFO() && ownPipe.test(path)))
    throw new TextFileError('it is a pipe or a device, but a file is expected')
}

/** The text that bytes are, without the mark before it. Throws TextFileError where they are UTF-16 or not UTF-8. */
export function textOfBytes(bytes: Uint8Array): string {
  const [first = 0, second = 0] = bytes
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  // Text without a mark has no zero bytes in UTF-8, and in UTF-16 every other one is for what keyboards of the west type.
  if (isMarked || (bytes.length > 1 && (first === 0) !== (second === 0)))
    throw new TextFileError('it is in UTF-16; save it as UTF-8')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new TextFileError('it is not text in UTF-8; save it as UTF-8')
  }
}
