/** Every fault can be asked for in three ways: at the control address, in a scenario, and by a flag; each way does the same. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { wireFaultKinds } from '../../src/paper/http/wireFaultRule.ts'
import { loadScenario, readFaults, type ScenarioStep } from '../../src/paper/server/scenario.ts'
import { applyFaults, noFaults } from '../../src/paper/venue/venueFaults.ts'
import { type Any, ethMarket, startVenue } from './support.ts'

/** A value of a switch other than its initial one; words are those that the refusal of a wrong one names. */
function otherValue(name: string, initial: unknown): unknown {
  if (Array.isArray(initial)) return [ethMarket]
  if (typeof initial === 'number') return 7
  if (initial === '') return name.startsWith('prepare') ? 'HIGH_PRICE_IMPACT' : 'EmptyPosition'
  const refusal = applyFaults(noFaults(), { [name]: '?' }) ?? ''
  return refusal
    .replace(/^.*must be one of /, '')
    .split(', ')
    .find((word) => word !== initial)
}

const switches = Object.entries(noFaults()).map(
  ([name, initial]) => [name, otherValue(name, initial)] as const,
)

/** What a venue says of its switches and rules. */
async function stateOf(paper: Awaited<ReturnType<typeof startVenue>>): Promise<Any> {
  const [faults, rules] = await Promise.all(
    ['faults', 'wire'].map(async (name) => (await paper.call('GET', `${paper.control}/${name}`)).body),
  )
  return { faults, rules: rules.map(({ id: _id, ...rule }: Any) => rule) }
}

async function withScenario(scenario: ScenarioStep[] | string): Promise<Any> {
  if (typeof scenario === 'string') throw new Error(scenario)
  const paper = await startVenue({ scenario })
  await paper.get('/nothing')
  const state = await stateOf(paper)
  await paper.close()
  return state
}

function fileOf(steps: unknown): ScenarioStep[] {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-faults-'))
  const path = join(folder, 'faults.json')
  writeFileSync(path, JSON.stringify({ faults: steps }))
  const read = loadScenario(path)
  rmSync(folder, { recursive: true })
  return read
}

test.each(switches)('the switch %s, by route, by scenario and by flag', async (name, value) => {
  const change = { [name]: value }
  const paper = await startVenue()
  const before = await stateOf(paper)
  expect((await paper.call('POST', `${paper.control}/faults`, change)).status).toBe(200)
  const byRoute = await stateOf(paper)
  await paper.close()
  expect(before.faults[name]).not.toEqual(value)
  expect(byRoute).toEqual({ ...before, faults: { ...before.faults, ...change } })
  expect(await withScenario(fileOf([{ set: change }]))).toEqual(byRoute)
  expect(await withScenario(readFaults(JSON.stringify(change)))).toEqual(byRoute)
})

test.each(wireFaultKinds)('the wire fault %s, by route, by scenario and by flag', async (kind) => {
  const rule = { kind, host: 'api/1', route: '/orders/*', probability: 0.5, times: 2 }
  const paper = await startVenue()
  expect((await paper.call('POST', `${paper.control}/wire`, rule)).status).toBe(200)
  const byRoute = await stateOf(paper)
  await paper.close()
  expect(byRoute.rules).toEqual([expect.objectContaining(rule)])
  expect(await withScenario(fileOf([{ wire: rule }]))).toEqual(byRoute)
  expect(await withScenario(readFaults(JSON.stringify([rule])))).toEqual(byRoute)
})

test('the log tells every change of the switches and every hit, with its moment', async () => {
  const paper = await startVenue({
    scenario: fileOf([{ atMs: 1000, forMs: 2000, set: { relay: 'fails' } }]),
  })
  const startMs = paper.clock.now()
  await paper.call('POST', `${paper.control}/faults`, { statsLagSeconds: 950 })
  await paper.call('POST', `${paper.control}/faults`, { statsLagSeconds: 'many' })
  await paper.call('POST', `${paper.control}/wire`, { id: 'one', kind: 'status', times: 1 })
  await paper.get('/tokens')
  paper.clock.move(1000)
  await paper.get('/tokens')
  paper.clock.move(2000)
  await paper.get('/tokens')
  expect((await paper.call('GET', `${paper.control}/fault-log`)).body).toEqual([
    { atMs: startMs, kind: 'switch', set: { statsLagSeconds: 950 } },
    expect.objectContaining({ atMs: startMs, id: 'one', kind: 'status', method: 'GET' }),
    { atMs: startMs + 1000, kind: 'switch', set: { relay: 'fails' } },
    { atMs: startMs + 3000, kind: 'switch', set: { relay: 'none' } },
  ])
  await paper.close()
})

test('a switch that makes every answer later than the server timeout makes it a 503', async () => {
  const paper = await startVenue({ faults: { latencyMs: 60_000 } })
  const slept: number[] = []
  paper.clock.sleep = async (ms) => {
    slept.push(ms)
  }
  const { status, headers } = await paper.prepare({})
  expect([status, slept]).toEqual([503, [60_000]])
  expect(headers.get('x-trace-id')).toBeTruthy()
  await paper.close()
})
