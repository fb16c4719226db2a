/** Where in a user's own source something went wrong: file and line as people read them. */
import { readFileSync } from 'node:fs'
import { isAbsolute, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** perpd's own code, which is never the place to look at. */
const ownCode = fileURLToPath(new URL('../..', import.meta.url))

/** A path from the working directory when it is below it, else whole. */
export function shownPath(path: string): string {
  const short = relative(process.cwd(), path)
  return short === '' || short.startsWith('..') || isAbsolute(short) ? path : short
}

/** `strategies/mine.ts:14` of the innermost frame of a thrown thing that lies in a user's file; undefined when none does. */
export function placeOfError(error: unknown): string | undefined {
  const stack = error instanceof Error ? error.stack : undefined
  if (stack === undefined) return undefined
  for (const [, address = '', line] of stack.matchAll(/(file:\/\/[^\s()]+?):(\d+)(?::\d+)?(?=[)\s]|$)/g)) {
    const path = pathOf(address)
    if (path === undefined || path.startsWith(ownCode) || path.includes(`${sep}node_modules${sep}`)) continue
    return `${shownPath(path)}:${line}`
  }
  return undefined
}

function pathOf(address: string): string | undefined {
  try {
    return fileURLToPath(address)
  } catch {
    return undefined
  }
}

/**
 * Where a kind's file says a field of a decision (`tpsl[0].triggerPrice`): its line when one line alone names it, else the line of
 * what it is in, else the line where `decide` begins.
 * A decision carries no trace of where it was made, so that this is the best that can be said.
 */
export function placesIn(path: string): (field?: string) => string {
  const shown = shownPath(path)
  let lines: readonly string[] = []
  try {
    lines = readFileSync(path, 'utf8').split('\n')
  } catch {
    // It was there when it was loaded; without it the file's name has to do.
  }
  const begin = lines.findIndex((line) => /\bdecide\s*[:(=]|\bdecide\b\s*,?$/.test(line))
  const lineNaming = (name: string): number | undefined => {
    const [at, other] = lines.flatMap((line, at) => (at >= begin && isNamed(line, name) ? [at] : []))
    return other === undefined ? at : undefined
  }
  return (field) => {
    const names = (field?.match(/[\p{L}_$][\p{L}\p{N}_$]*/gu) ?? []).toReversed()
    const at = names.map(lineNaming).find((line) => line !== undefined) ?? begin
    return at < 0 ? shown : `${shown}:${at + 1}`
  }
}

function isNamed(line: string, field: string): boolean {
  return new RegExp(`(?:^|[^\\w.$])['"]?${field.replaceAll('$', '\\$')}['"]?\\s*[:,]`).test(line)
}
