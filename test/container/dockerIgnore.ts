/** Which files a build is handed: those of the folder that its `.dockerignore` lets through. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Reads the patterns; the last one that fits a path or a folder above it decides. */
export function ignoredBy(text: string): (path: string) => boolean {
  const patterns = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const isKept = line.startsWith('!')
      const plain = (isKept ? line.slice(1) : line).replace(/^\/+|\/+$/g, '')
      const source = plain
        .replace(/[.+^${}()|[\]\\]/g, '\\$&')
        .replace(/\*\*\/?|\*|\?/g, (sign) => (sign.startsWith('**') ? '.*' : sign === '*' ? '[^/]*' : '[^/]'))
      return { isKept, fits: new RegExp(`^${source}$`) }
    })
  return (path) => {
    const parts = path.split('/')
    const above = parts.map((_part, at) => parts.slice(0, at + 1).join('/'))
    let isIgnored = false
    for (const { isKept, fits } of patterns) if (above.some((each) => fits.test(each))) isIgnored = !isKept
    return isIgnored
  }
}

/** Paths of the files that a build of this folder is handed, in order. */
export function contextOf(folder: string, ignoreText: string): readonly string[] {
  const isIgnored = ignoredBy(ignoreText)
  const found: string[] = []
  const skipped = new Set(['node_modules', '.git', 'var', 'dist'])
  const walk = (path: string): void => {
    for (const entry of readdirSync(join(folder, path), { withFileTypes: true })) {
      const here = path === '' ? entry.name : `${path}/${entry.name}`
      // Large, a user's own, or built anew meanwhile, and nothing below them is let through.
      if (skipped.has(here) && isIgnored(`${here}/x`)) continue
      if (entry.isDirectory()) walk(here)
      else if (!isIgnored(here)) found.push(here)
    }
  }
  walk('')
  return found.sort()
}
