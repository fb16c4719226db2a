/** docs/reference/paper-venue.md shows every fault there is, and nothing that the control address would refuse. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { readWireFault, wireFaultKinds } from '../../src/paper/http/wireFaultRule.ts'
import { readFaults, readScenario } from '../../src/paper/server/scenario.ts'
import { applyFaults, noFaults } from '../../src/paper/venue/venueFaults.ts'
import { ethMarket } from './support.ts'

const text = readFileSync(new URL('../../docs/reference/paper-venue.md', import.meta.url), 'utf8')

/** Bodies that the document sends to a control route, as the shell would. */
function bodiesTo(route: string): unknown[] {
  const single = [...text.matchAll(new RegExp(`\\$C/${route} --json '([^']+)'`, 'g'))].map(
    ([, body = '']) => body,
  )
  const double = [...text.matchAll(new RegExp(`\\$C/${route} --json "(.*?[^\\\\])"`, 'g'))].map(
    ([, body = '']) => body.replaceAll('\\"', '"').replaceAll('$M', ethMarket),
  )
  return [...single, ...double].map((body): unknown => JSON.parse(body))
}

test('every switch is shown with a value, and every value is taken', () => {
  const shown = bodiesTo('faults')
  for (const body of shown) expect([body, applyFaults(noFaults(), body)]).toEqual([body, undefined])
  const names = new Set(shown.flatMap((body) => Object.keys(body as object)))
  expect([...names].sort()).toEqual(Object.keys(noFaults()).sort())
})

test('after all of them nothing is wrong any more', () => {
  const faults = noFaults()
  for (const line of text.split('\n')) {
    const [, single, double] = /\$C\/faults --json (?:'([^']+)'|"(.*?[^\\])")/.exec(line) ?? []
    const body = single ?? double?.replaceAll('\\"', '"').replaceAll('$M', ethMarket)
    if (body !== undefined) applyFaults(faults, JSON.parse(body))
  }
  // How a fault would strike is not a fault.
  const { relayLateMs, rpcForkBlocks, jitRefreshMs, oldOracleSeconds, ...switches } = noFaults()
  expect(faults).toMatchObject(switches)
})

test('every kind of wire rule is shown, and every rule is taken', () => {
  const shown = bodiesTo('wire')
  for (const body of shown) expect(readWireFault(body, 'x')).toBeTypeOf('object')
  expect(new Set(shown.map((body) => (body as { kind: string }).kind))).toEqual(new Set(wireFaultKinds))
})

test('the scenario and the faults of the start that are shown can be played', () => {
  const [, scenario = ''] = /```yaml\n([\s\S]*?)```/.exec(text) ?? []
  expect(readScenario(parse(scenario))).toHaveLength(5)
  const [, start = ''] = /--paper\.faults '([^']+)'/.exec(text) ?? []
  expect(readFaults(start)).toHaveLength(2)
})
