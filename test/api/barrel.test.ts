/** `perpd/api` exports what its users need: every type that a route or an error speaks of, every helper that reads one. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { routeFiles } from '../../src/api/client.ts'
import * as freshness from '../../src/api/freshness.ts'
import * as barrel from '../../src/api/index.ts'
import * as capacityFacts from '../../src/api/orders/capacityFacts.ts'
import * as sanity from '../../src/api/priceSanity.ts'
import * as errors from '../../src/api/transport/apiErrors.ts'
import { jumpingClock, scriptedFetch } from './support.ts'

const root = resolve(import.meta.dirname, '..', '..', 'src')
const folder = join(root, 'api')
const read = (path: string) => readFileSync(path, 'utf8')
const index = read(join(folder, 'index.ts'))

/** Names of types that a file declares and exports. */
function typesOf(path: string): readonly string[] {
  return [...read(path).matchAll(/^export (?:interface|type|(?:abstract )?class) (\w+)/gm)].map(
    ([, name]) => name ?? '',
  )
}

/** What the barrel gives, by file below src: names, or all types. */
function exportsOfBarrel(): ReadonlyMap<string, ReadonlySet<string> | 'all types'> {
  const given = new Map<string, ReadonlySet<string> | 'all types'>()
  for (const [, all, named, from] of index.matchAll(
    /^export (?:type )?(?:(\*)|\{([^}]*)\}) from '([^']+)'/gm,
  )) {
    const file = relative(root, resolve(folder, from ?? ''))
    const before = given.get(file)
    if (all !== undefined || before === 'all types') given.set(file, 'all types')
    else {
      const names = (named ?? '').split(',').map((name) => name.trim().replace(/^type /, ''))
      given.set(file, new Set([...(before ?? []), ...names]))
    }
  }
  return given
}

const given = exportsOfBarrel()

function isGiven(file: string, name: string): boolean {
  const names = given.get(file)
  return names === 'all types' || names?.has(name) === true
}

/** How the clients are made inside; no method takes or gives one. */
const inner: ReadonlySet<string> = new Set([
  'Decoder',
  'FieldsOf',
  'FieldTable',
  'Fields',
  'Route',
  'RouteQuery',
  'Transport',
  'Use',
])

/** Types that the files which the barrel gives types of take from other files: parts of what they export. */
function typesSpokenOf(): readonly (readonly [user: string, file: string, name: string])[] {
  const spoken: (readonly [string, string, string])[] = []
  for (const [user, names] of given) {
    if (names !== 'all types') continue
    const path = join(root, user)
    for (const [, isType, list, from] of read(path).matchAll(
      /^import (type )?\{([^}]*)\} from '(\.[^']+)'/gm,
    )) {
      const file = resolve(path, '..', from ?? '')
      const declared = new Set(typesOf(file))
      for (const part of (list ?? '').split(',')) {
        const name = part.trim().replace(/^type /, '')
        if (isType === undefined && !part.trim().startsWith('type ')) continue
        if (declared.has(name) && !inner.has(name)) spoken.push([user, relative(root, file), name])
      }
    }
  }
  return spoken
}

test('the types of every route file are exported', () => {
  const sources = [
    ...read(join(folder, 'client.ts')).matchAll(/^import \* as \w+ from '\.\/((?:\w+\/)?\w+\.ts)'/gm),
  ].map(([, file]) => file ?? '')
  expect(sources).toHaveLength(routeFiles.length)
  const missing = sources.flatMap((file) =>
    typesOf(join(folder, file))
      .filter((name) => !isGiven(`api/${file}`, name))
      .map((name) => `${file}: ${name}`),
  )
  expect(missing).toEqual([])
})

test('a type that an exported type speaks of is exported too', () => {
  const spoken = typesSpokenOf()
  expect(spoken.length).toBeGreaterThan(50)
  const missing = spoken.filter(([, file, name]) => !isGiven(file, name)).map((each) => each.join(' '))
  expect(missing).toEqual([])
})

test('every error, every age and every reading of a record is exported', () => {
  const values = [errors, freshness, capacityFacts, sanity].flatMap((file) => Object.keys(file))
  const inside = ['hostName']
  expect(values.filter((name) => !(name in barrel) && !inside.includes(name))).toEqual([])
  for (const file of [
    'transport/apiErrors.ts',
    'freshness.ts',
    'orders/capacityFacts.ts',
    'priceSanity.ts',
    'transport/requestLimits.ts',
  ]) {
    const missing = typesOf(join(folder, file)).filter((name) => !isGiven(`api/${file}`, name))
    expect([file, missing]).toEqual([file, []])
  }
})

test('every file of the clients is exported in part, or is part of how they work inside', () => {
  const insides = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && file !== 'index.ts' && !given.has(`api/${file}`),
  )
  expect(insides.sort()).toEqual([
    'decode/decode.ts',
    'decode/fieldTable.ts',
    'decode/json.ts',
    'markets/marketInfo.ts',
    'markets/tickerFilters.ts',
    'markets/tokens.ts',
    'orders/approvalBody.ts',
    'orders/orderChanges.ts',
    'rows/capacityRow.ts',
    'rows/listRows.ts',
    'rows/marketInfoRow.ts',
    'rows/rowMemo.ts',
    'rows/tickerRow.ts',
    'transport/answer.ts',
    'transport/coalesce.ts',
    'transport/connections.ts',
    'transport/exchange.ts',
    'transport/hostClocks.ts',
    'transport/httpRequest.ts',
    'transport/redirect.ts',
    'transport/requestQueue.ts',
    'transport/transport.ts',
    'transport/unreachedCauses.ts',
  ])
})

test('every route function is a method of the clients, and none is exported beside them', () => {
  const clock = jumpingClock()
  const { fetch } = scriptedFetch(clock, () => ({}))
  const api = barrel.createApi({ chain: barrel.arbitrum, fetch, clock, random: () => 0.5 })
  const functions = routeFiles.flatMap((file) =>
    Object.entries(file).flatMap(([name, value]) => (typeof value === 'function' ? [name] : [])),
  )
  expect(functions.length).toBeGreaterThan(60)
  for (const name of functions) {
    expect(api).toHaveProperty(name, expect.any(Function))
    expect(barrel).not.toHaveProperty(name)
  }
})
