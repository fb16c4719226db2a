/** Where a run's evidence comes from, as configured, and how it is said. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/base/systemClock.ts'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { chooseEvidence } from '../../src/daemon/evidence/evidenceSource.ts'
import { phrase } from '../../src/monitor/events/eventRegister.ts'
import { createMetrics } from '../../src/monitor/metrics/metrics.ts'
import { serveVenue } from '../../src/paper/server/serve.ts'
import { createVenue } from '../../src/paper/server/venue.ts'
import { avalanche } from '../../src/protocol/chains/avalanche.ts'
import { perpd } from '../cli/run.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-evidence-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const load = (...argv: string[]) => loadConfig({ argv, env: {}, cwd }).config
const embedded = { rpc: ['http://127.0.0.1:1/rpc', 'http://127.0.0.1:1/rpc/1'], ws: ['ws://127.0.0.1:1/ws'] }

test('paper closes by the node of its own venue, unless it is told not to', () => {
  expect(chooseEvidence(load(), embedded)).toMatchObject({
    source: 'chain',
    http: [expect.anything()],
    ws: [expect.anything()],
    finality: 'safe',
    endpoints: 1,
    isWeak: false,
  })
  expect(chooseEvidence(load('--evidence.source=api'), embedded)).toMatchObject({
    source: 'api',
    isWeak: false,
  })
})

test('a live chain has its own finality, and two endpoints must agree', () => {
  const given = ['--rpc.http=https://one.example/key', '--rpc.http=https://two.example/key']
  const finalityOf = (chain: string, ...more: string[]) =>
    chooseEvidence(load('--profile', chain, ...given, ...more), undefined).finality
  expect(finalityOf('arbitrum')).toBe('safe')
  expect(finalityOf('avalanche')).toEqual({ depth: 3 })
  expect(finalityOf('megaeth')).toBe('finalized')
  expect(finalityOf('arbitrum', '--rpc.finality=finalized')).toBe('finalized')
  expect(finalityOf('arbitrum', '--rpc.finality=12')).toEqual({ depth: 12 })
  const choice = chooseEvidence(load('--profile', 'arbitrum', ...given), undefined)
  expect(choice.text).toBe('safe blocks of the chain, through 2 RPC endpoints, which must agree')
  const sockets = chooseEvidence(load('--profile', 'arbitrum', '--rpc.ws=wss://one.example/key'), undefined)
  expect(sockets).toMatchObject({ source: 'chain', endpoints: 1 })
})

test('real money without an endpoint is said loudly: a warning, and a series that is 0', async () => {
  const { source, endpoints, text, isWeak } = chooseEvidence(load('--profile', 'arbitrum'), undefined)
  expect([source, endpoints, isWeak]).toEqual(['api', 0, true])
  const event = { type: 'evidence.chosen', source, endpoints, text, isWeak } as const
  expect(phrase(event)).toMatchObject({ level: 'warn' })
  expect(phrase(event).text).toMatch(/^NO CHAIN ENDPOINT: orders close by API-only/)
  const metrics = createMetrics({
    version: '0',
    profile: 'arbitrum',
    chain: 'arbitrum',
  })
  metrics.listen({ ...event, endpoints: 2 })
  expect(await metrics.render()).toContain('perpd_evidence_endpoints 2')
  metrics.listen(event)
  expect(await metrics.render()).toContain('perpd_evidence_endpoints 0')
})

test('endpoints that cannot be are refused before anything starts, and their keys are not shown', async () => {
  const problems = async (...argv: string[]) => (await perpd(cwd, ['config', ...argv])).err
  expect(await problems('--rpc.http=https://rpc.example/v2/key')).toContain(
    'rpc.http points to rpc.example; the paper profile connects to this machine only.',
  )
  expect(await problems('--rpc.ws=https://rpc.example/v2/key')).toContain(
    'expected a list of wss:// addresses',
  )
  expect(await problems('--rpc.ws=ws://rpc.example/v2/key')).toContain('expected a list of wss:// addresses')
  expect(await problems('--rpc.finality=soon')).toContain('expected one of auto, latest, safe, finalized')
  expect(await problems('--profile=arbitrum', '--evidence.source=chain')).toContain(
    'evidence.source is chain, and rpc.http (default) and rpc.ws (default) are empty: set rpc.http',
  )
  expect(await problems('--profile=arbitrum', '--rpc.finality=latest')).toContain('rpc.finality is latest')
  const all = await problems('--rpc.http=https://rpc.example/v2/key', '--rpc.ws=wss://rpc.example/v2/key')
  expect(all).not.toContain('v2/key')
})

test('a node of another chain ends the start with a clear word', { timeout: 30_000 }, async () => {
  const served = await serveVenue(createVenue({ clock: systemClock, chain: avalanche }), {
    hostname: '127.0.0.1',
    port: 0,
  })
  try {
    const strategies = resolve(import.meta.dirname, '..', '..', 'strategies')
    writeFileSync(join(cwd, 'perpd.json'), JSON.stringify({ rpc: { http: served.rpc.slice(0, 1) } }), {
      mode: 0o600,
    })
    const { code, err } = await perpd(cwd, [
      'run',
      `--strategies.paths=${strategies}`,
      '--control.port=0',
      '--log.level=error',
    ])
    expect(code).toBe(4)
    expect(err).toContain('serves another chain')
    expect(err).toMatch(/wanted: 42161\s+found: 43114/)
  } finally {
    await served.close()
  }
})
