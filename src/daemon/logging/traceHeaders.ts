/** Headers of a collector of traces, from a file that others cannot read: they hold its token. */
import { CommandError, exitCodes } from '../../config/exit.ts'
import { readSecretFile } from '../../keys/privateFile.ts'

/** Headers that HTTP itself has, which would change what is sent. */
const own: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'content-type',
  'connection',
  'transfer-encoding',
])

/**
 * The headers of `otel.headersFile`, one `Name: value` a line; blank lines and lines that begin with # are passed over.
 *
 * @throws KeyFileError when the file cannot be opened or others may read it; CommandError with exit code 4 when a line is no header. No
 * value is in a message.
 */
export function traceHeaders(path: string, checksFolder: boolean): Readonly<Record<string, string>> {
  const text = readSecretFile(path, { setting: 'otel.headersFile', checksFolder }).reveal()
  const headers: Record<string, string> = {}
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const [, name, value] =
      /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}):[ \t]*([\x21-\x7e](?:[\x20-\x7e]{0,4094}[\x21-\x7e])?)[ \t]*$/.exec(
        line,
      ) ?? []
    if (name === undefined || value === undefined || own.has(name.toLowerCase())) {
      const what =
        name === undefined
          ? 'is not a header such as authorization: Bearer ...'
          : `names ${name}, which perpd sets itself`
      throw new CommandError(
        `${path}:${index + 1} ${what}; otel.headersFile names it.`,
        exitCodes.configuration,
      )
    }
    headers[name] = value
  }
  return headers
}
