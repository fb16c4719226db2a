/**
 * `npm run vectors -- FILE...`: how many vectors of a file of the schema `gmx-math-vectors/1` the venue's model agrees with,
 * to the unit. Where contracts and client differ the contracts count, then the client with the contracts' power function.
 */
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { ProtocolRevert } from '../../src/paper/math/protocolRevert.ts'
import type { Any } from '../paper/support.ts'
import { clientFunctions } from './clientFunctions.ts'
import { contractFunctions, type VectorFunction } from './contractFunctions.ts'
import { written } from './input.ts'

/** One vector of a file. */
export interface Vector {
  readonly id: string
  readonly function: string
  readonly input: Any
  readonly expected: Any
  readonly expectedFixedPow?: Any
  readonly contract?: Any
  readonly tags?: readonly string[]
}

function merged(base: Any, over: Any): Any {
  if (typeof over !== 'object' || over === null || Array.isArray(over)) return over
  const result = { ...base }
  for (const [name, value] of Object.entries(over)) {
    result[name] = name in result ? merged(result[name], value) : value
  }
  return result
}

/** What a venue must give for a vector. */
export function wantedOf(vector: Vector): Any {
  if (typeof vector.contract === 'object' && vector.contract !== null) return vector.contract
  return vector.expectedFixedPow === undefined
    ? vector.expected
    : merged(vector.expected, vector.expectedFixedPow)
}

/** The contract's function where the vector has a contract's word, else the client's. */
function functionOf(vector: Vector): VectorFunction | undefined {
  const contract = contractFunctions[vector.function]
  const client = clientFunctions[vector.function]
  return vector.contract === undefined ? (client ?? contract) : (contract ?? client)
}

/** What the model gives for a vector, cut to the names that are compared; undefined: an unknown function. */
export function givenOf(vector: Vector): Any {
  const run = functionOf(vector)
  if (run === undefined) return undefined
  let result: Any
  try {
    result = written(run(vector.input))
  } catch (error) {
    if (!(error instanceof ProtocolRevert)) throw error
    result = { revert: error.errorName }
  }
  const wanted = wantedOf(vector)
  return cut(result, wanted)
}

/** The names of the wanted value one level down; deeper values are compared whole. */
function cut(result: Any, wanted: Any): Any {
  if (result.revert !== undefined) return result
  return Object.fromEntries(Object.keys(wanted).map((name) => [name, cutDeep(result[name], wanted[name])]))
}

function cutDeep(result: Any, wanted: Any): Any {
  if (Array.isArray(wanted) && Array.isArray(result)) {
    return result.map((one: Any, i: number) => cutDeep(one, wanted[i]))
  }
  return result
}

/** Whether the model agrees with a vector to the unit. */
export function agrees(vector: Vector): boolean {
  return isDeepStrictEqual(givenOf(vector), wantedOf(vector))
}

function main(paths: readonly string[]): void {
  const counts = new Map<string, { agree: number; all: number; readonly wrong: string[] }>()
  for (const path of paths) {
    const { vectors } = JSON.parse(readFileSync(path, 'utf8')) as { vectors: readonly Vector[] }
    for (const vector of vectors) {
      const count = counts.get(vector.function) ?? { agree: 0, all: 0, wrong: [] }
      counts.set(vector.function, count)
      count.all += 1
      let why = ''
      try {
        if (agrees(vector)) count.agree += 1
        else why = vector.id
      } catch (error) {
        why = `${vector.id} (${error instanceof Error ? error.message : String(error)})`
      }
      if (why !== '') count.wrong.push(why)
    }
  }
  const write = (line: string): void => {
    process.stdout.write(`${line}\n`)
  }
  let agree = 0
  let all = 0
  for (const [name, count] of counts) {
    agree += count.agree
    all += count.all
    write(`${name.padEnd(34)} ${String(count.agree).padStart(4)} of ${String(count.all).padStart(4)}`)
    for (const id of count.wrong) write(`    differs: ${id}`)
  }
  write(`${'all'.padEnd(34)} ${String(agree).padStart(4)} of ${String(all).padStart(4)}`)
  process.exitCode = agree === all ? 0 : 1
}

if (import.meta.main) {
  const paths = process.argv.slice(2)
  if (paths.length === 0) {
    process.stderr.write('Usage: npm run vectors -- FILE...\nA file of the schema gmx-math-vectors/1.\n')
    process.exitCode = 2
  } else {
    main(paths)
  }
}
