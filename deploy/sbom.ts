/**
 * The list of everything that runs with perpd, as CycloneDX 1.5, from the lockfile: `npm run sbom` writes it, a test holds
 * it to the lockfile. npm's own `npm sbom` leaves out what a development package names as an optional peer, as `yaml`.
 */
import { readFileSync, writeFileSync } from 'node:fs'

/** A package as the lockfile has it. */
interface Locked {
  readonly name?: string
  readonly version: string
  readonly license?: string
  /** `sha512-` and base64. */
  readonly integrity?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

type Lock = { readonly packages: Readonly<Record<string, Locked>> }

/** The document of a lockfile; the same for the same lockfile. Throws RangeError when a package in it is not locked. */
export function sbomOf({ packages }: Lock): object {
  const root = packages['']
  if (root === undefined) throw new RangeError('the lockfile has no root')
  const reached = new Map<string, readonly string[]>()
  const visit = (path: string): void => {
    if (reached.has(path)) return
    const { dependencies = {}, optionalDependencies = {} } = packages[path] ?? {}
    const next = Object.keys({ ...dependencies, ...optionalDependencies }).map((name) => found(path, name))
    reached.set(path, next)
    for (const each of next) visit(each)
  }
  /** Where Node finds a package from another: beside it or in a folder further up. */
  const found = (from: string, name: string): string => {
    const folders = from.split(/(?:^|\/)node_modules\//).slice(1)
    for (let depth = folders.length; depth >= 0; depth--) {
      const path = [...folders.slice(0, depth), name].map((each) => `node_modules/${each}`).join('/')
      if (packages[path] !== undefined) return path
    }
    throw new RangeError(`${name}, which ${from || 'perpd'} needs, is not in the lockfile`)
  }
  visit('')
  const refOf = (path: string): string => {
    const { version, name } = packages[path] ?? { version: '' }
    return `${name ?? path.replace(/^.*node_modules\//, '')}@${version}`
  }
  const paths = [...reached.keys()].filter((path) => path !== '').sort()
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      component: { 'bom-ref': refOf(''), type: 'application', name: root.name, version: root.version },
    },
    components: paths.map((path) => component(refOf(path), packages[path] ?? { version: '' })),
    dependencies: ['', ...paths].map((path) => ({
      ref: refOf(path),
      dependsOn: (reached.get(path) ?? []).map(refOf).sort(),
    })),
  }
}

function component(ref: string, { version, license, integrity }: Locked): object {
  const name = ref.slice(0, -version.length - 1)
  const digest = Buffer.from(integrity?.replace(/^sha512-/, '') ?? '', 'base64').toString('hex')
  return {
    'bom-ref': ref,
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    hashes: [{ alg: 'SHA-512', content: digest }],
    licenses: [{ license: { id: license } }],
  }
}

if (import.meta.main) {
  const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'))
  writeFileSync(
    new URL('./sbom.cdx.json', import.meta.url),
    `${JSON.stringify(sbomOf(lock), undefined, 2)}\n`,
  )
}
