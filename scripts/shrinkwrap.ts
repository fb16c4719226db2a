/**
 * `npm-shrinkwrap.json` of the package, for whoever installs it: what the lockfile has, but for what is for development, each with its hash
 * and without an address, so that it is fetched from the registry of whoever installs and must be the same. With `--remove` it goes again:
 * in a checkout it would stand in the place of the lockfile.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'

const file = 'npm-shrinkwrap.json'

interface Locked {
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly resolved?: string
  readonly devDependencies?: unknown
}

if (process.argv.includes('--remove')) rmSync(file, { force: true })
else {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>
  }
  const kept = Object.entries(lock.packages)
    // A compiler is an optional peer of one package, with a part for each platform; it has no part in running.
    .filter(
      ([path, { dev, devOptional }]) =>
        dev !== true && devOptional !== true && !path.startsWith('node_modules/@typescript/'),
    )
    .map(([path, { resolved: _, devDependencies: __, ...rest }]) => [path, rest])
  writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(kept) }, undefined, 2)}\n`)
}
