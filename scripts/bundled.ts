/** Bundles modules of the source: the package that users install, and the program that tests of real processes start. */
import { type RolldownBuild, rolldown } from 'rolldown'

/** Packages that stay packages: native code, code that starts threads from files of its own, and what few users turn on. */
const isApart = (name: string): boolean =>
  /^(?:node:|(?:nodemailer|pino|tiny-secp256k1)$|@opentelemetry\/(?!api$))/.test(name)

/**
 * Bundles `entries`, paths of source files by the names of their outputs. `placeOf` gives the expression that stands for `import.meta.url` in a module of this
 * path; undefined leaves the module as it is. A warning of the bundler rejects: nobody reads its log.
 */
export function bundled(
  entries: Readonly<Record<string, string>>,
  placeOf: (path: string) => string | undefined,
): Promise<RolldownBuild> {
  return rolldown({
    input: { ...entries },
    platform: 'node',
    external: (id) => isApart(id),
    plugins: [
      {
        name: 'places',
        transform(code, id) {
          const place = placeOf(id)
          return place === undefined ? undefined : code.replaceAll('import.meta.url', place)
        },
      },
    ],
    onLog(level, log) {
      if (level === 'warn') throw new Error(log.message)
    },
  })
}
