/** Finds the place of an error in a user's own source: file and line as people read them. */
import { readFileSync } from 'node:fs'
import { isAbsolute, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** perpd's own code, which is never the place to look at. */
const ownCode = fileURLToPath(new URL('../..', import.meta.url))

/** Lines that are worth a look each. */
const MOST_LINES = 3

/** A path from the working directory when it is below it, else whole. */
export function shownPath(path: string): string {
  const short = relative(process.cwd(), path)
  return short === '' || short.startsWith('..') || isAbsolute(short) ? path : short
}

/** `strategies/mine.ts:14` of the innermost frame of a thrown thing that lies in a user's file; undefined when none does. */
export function placeOfError(error: unknown): string | undefined {
  const stack = error instanceof Error ? error.stack : undefined
  if (stack === undefined) return undefined
  const frames = stack.matchAll(/(file:\/\/[^\s()]+?):(\d+)(?::\d+)?(?=[)\s]|$)/g)
  return placeOfFrames([...frames].map(([, url = '', line]) => ({ url, line: Number(line) })))
}

/** The same of call frames, the innermost first; lines count from 1. */
export function placeOfFrames(
  frames: readonly { readonly url: string; readonly line: number }[],
): string | undefined {
  for (const { url, line } of frames) {
    const path = pathOf(url)
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
 * Returns a finder for the place where a kind's file names a field of a decision (`tpsl[0].triggerPrice`). The place is its line when a single line
 * names it, else the line of its parent, else the few that name it, `mine.ts:12 or 17`. A decision carries no trace of where it was made: without
 * such a line, the answer is only `decide, which begins at strategies/mine.ts:7`.
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
  const linesNaming = (name: string): readonly number[] =>
    lines.flatMap((line, at) => (at >= begin && isNamed(line, name) ? [at + 1] : []))
  return (field) => {
    const names = (field?.match(/[\p{L}_$][\p{L}\p{N}_$]*/gu) ?? []).toReversed()
    const found = names.map(linesNaming)
    const [one] = found.find((each) => each.length === 1) ?? []
    if (one !== undefined) return `${shown}:${one}`
    // Nothing shows which of two made it; to look at both is better than to look everywhere.
    const several = found.find((each) => each.length > 1 && each.length <= MOST_LINES)
    if (several !== undefined) return `${shown}:${several.join(' or ')}`
    return begin < 0 ? shown : `decide, which begins at ${shown}:${begin + 1}`
  }
}

function isNamed(line: string, field: string): boolean {
  // A line of a comment makes nothing.
  if (/^\s*(?:\/\/|\/?\*)/.test(line)) return false
  return new RegExp(`(?:^|[^\\w.$])['"]?${field.replaceAll('$', '\\$')}['"]?\\s*[:,]`).test(line)
}
