/**
 * What the API clients cover, printed from the source: every route of the two API documents, the function
 * that asks it, its cache window, and the tests that hold it. Routes are not listed twice: each function is called with a
 * transport that only writes down what it is asked.
 */
import { readFileSync } from 'node:fs'
import { routeFiles } from '../src/api/client.ts'
import { RefusedError } from '../src/api/transport/apiErrors.ts'
import { defaultApiLimits } from '../src/api/transport/requestLimits.ts'
import type { Route } from '../src/api/transport/route.ts'
import type { Transport } from '../src/api/transport/transportTypes.ts'
import { documentedRoutes } from './documentedRoutes.ts'
import { documentedRules } from './documentedRules.ts'

/** A route as a function asks it. */
export type AskedRoute = Pick<
  Route<Readonly<Record<string, unknown>>, unknown>,
  'path' | 'method' | 'service' | 'kind' | 'cacheMs' | 'timeoutMs' | 'version'
>

/** Every decoder in it gets the bodies of hostile.test.ts. */
const decoderList = 'decoders.ts'

/** Files of tests whose use of a function counts as holding its route. */
const testFiles = [
  'routes.test.ts',
  'slowRoutes.test.ts',
  'protocolRoutes.test.ts',
  'accountRoutes.test.ts',
  'orders.test.ts',
  'writes.test.ts',
  decoderList,
  'client.test.ts',
  'venue.test.ts',
  'accountVenue.test.ts',
  'nock.test.ts',
  'errorsTable.test.ts',
]

type AnyFunction = (transport: Transport, input: unknown, options: unknown) => Promise<unknown>

/** The routes that one function asks, fallbacks too: every question is refused with a 404. */
async function routesAskedBy(ask: AnyFunction): Promise<readonly AskedRoute[]> {
  const asked: AskedRoute[] = []
  const transport: Transport = {
    hosts: { api: [], oracle: [] },
    limits: defaultApiLimits,
    call(route) {
      asked.push(route as AskedRoute)
      const { path, method, kind } = route
      const place = { route: path, method, kind, host: '' }
      return Promise.reject(new RefusedError({ ...place, status: 404, isOwnBody: true }))
    },
    coolDown: () => {},
    isCoolingDown: () => false,
    clockSkewMs: () => undefined,
  }
  await ask(transport, {}, {}).catch((error: unknown) => {
    if (!(error instanceof RefusedError)) throw error
  })
  return asked
}

/** Name of a route: service, method and path, with the version where it is not the base address's. */
export function routeName({ service, method, path, version }: AskedRoute): string {
  return `${service} ${method} ${version === undefined ? '' : `/${version}`}${path}`
}

/** Every function of the clients with the routes it asks. */
export async function askedRoutes(): Promise<ReadonlyMap<string, readonly AskedRoute[]>> {
  const asked = new Map<string, readonly AskedRoute[]>()
  for (const file of routeFiles) {
    // The order of a module's exports is not the same in every runner.
    for (const [name, value] of Object.entries<unknown>(file).toSorted(([one], [other]) =>
      one < other ? -1 : 1,
    )) {
      if (typeof value === 'function') asked.set(name, await routesAskedBy(value as AnyFunction))
    }
  }
  return asked
}

function seconds(ms: number): string {
  return `${ms / 1000} s`
}

/** How long reads of a route share one request. */
export function cacheText({ kind, cacheMs }: AskedRoute): string {
  if (kind !== 'read') return '-'
  if (cacheMs === undefined) return 'while pending'
  if (typeof cacheMs === 'number') return seconds(cacheMs)
  // The one window that depends on the question is that of candles.
  return `${seconds(cacheMs({ period: '1m' }))} for 1m and 5m, ${seconds(cacheMs({ period: '1h' }))} for longer`
}

function testsOf(name: string, texts: ReadonlyMap<string, string>): readonly string[] {
  // A use of the function, not a fixture that is called alike.
  const word = new RegExp(`(?<![-'\\w])${name}\\b(?!['-])`)
  const holding = [...texts].filter(([, text]) => word.test(text))
  return holding.map(([file]) => `\`${file === decoderList ? 'hostile' : file.replace('.test.ts', '')}\``)
}

const services = {
  api: '`{api_base_url}`',
  oracle: '`{base_url}`',
  pairFeed: '`{pair_feed_url}`',
  solanaFeed: '`{solana_api_url}`',
} as const

/** The text of docs/reference/api-coverage.md. */
export async function apiCoverageDocument(): Promise<string> {
  const asked = [...(await askedRoutes())]
  const folder = new URL('../test/api/', import.meta.url)
  const texts = new Map(testFiles.map((file) => [file, readFileSync(new URL(file, folder), 'utf8')]))
  const rows = documentedRoutes.map((documented) => {
    const name = `${documented.service} ${documented.method} ${documented.path}`
    const asking = asked.flatMap(([fn, routes]) =>
      routes.filter((route) => routeName(route) === name).map((route) => ({ fn, route })),
    )
    const functions = asking.map(({ fn }) => `\`${fn}\``).join(', ')
    const caches = [...new Set(asking.map(({ route }) => cacheText(route)))].join('; ')
    const tests = [...new Set(asking.flatMap(({ fn }) => testsOf(fn, texts)))].sort().join(' ')
    const isOurs = documented.cacheMs === undefined && /\d/.test(caches)
    return `| ${services[documented.service]} | ${documented.method} \`${documented.path}\` | ${documented.section} | ${
      functions
    } | ${isOurs ? `${caches} (ours)` : caches} | ${tests} | ${documented.note ?? ''} |`
  })
  return `${[
    '# What the API clients cover',
    '',
    '<!-- Printed from src/api and scripts/documentedRoutes.ts by `npm run docs`. Do not edit. -->',
    '',
    'Every route of the venue’s two API documents (application API, oracle price service), and routes that its public clients',
    'use besides. One exported function a route, one decoder a function; a method of `createApi` each. Comments cite a route of',
    'this table by method and path, and a rule by its number.',
    '',
    '**Cache window**: reads of one question within it share one request. It is the venue’s own where the documents give one;',
    '`(ours)` where they give none; `while pending`: only callers at the same moment share. Writes share nothing.',
    '',
    '**unverified**: no public source shows the answer; the client reads the likeliest form. The list: [unverified.md](unverified.md).',
    '',
    '| host | route | document | function | cache window | tested by | note |',
    '|---|---|---|---|---|---|---|',
    ...rows,
    '',
    'Conversion quotes for stable coins: the API document names them without a path, so there is no function.',
    '',
    '## Rules',
    '',
    'Each sentence of the documents that binds a client, `O` of the oracle price service and `A` of the application API, and the',
    'test files that hold it; their titles are in',
    'scripts/documentedRules.ts, and a test looks for them.',
    '',
    '| rule | section | what it says | held by |',
    '|---|---|---|---|',
    ...documentedRules.map(
      ({ number, section, rule, heldBy }) =>
        `| ${number} | ${section} | ${rule} | ${[...new Set(heldBy.map(([file]) => `\`${file}\``))].join(' ')} |`,
    ),
  ].join('\n')}\n`
}
