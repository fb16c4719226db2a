/** An order by hand as a ticket: sized by what it may lose, shown with what follows from it, and sent as it was shown or not at all. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import type { Limits } from '../../src/domain/limits/limits.ts'
import type { OperatorCommand } from '../../src/operator/commands/index.ts'
import type { OpenCommand } from '../../src/operator/commands/openPosition.ts'
import type { ManualQuote } from '../../src/operator/quotes/manualQuote.ts'
import type { VenueSettings } from '../../src/paper/state/settings.ts'
import { formatPrice } from '../../src/protocol/priceText.ts'
import { formatDollars, ONE_USD, usd } from '../../src/protocol/units.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, kindsBench, type PricePath } from '../support/kinds.ts'

let bench: KindsBench | undefined
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
})

const opening: OpenCommand = {
  ...{ type: 'open', id: 'one', market: ethSymbol, direction: 'long' },
  ...{ leverage: '5', collateral: 'short' },
}

/** A running engine at a price of its own. */
async function desk(
  account: Limits = {},
  path: PricePath = [[0, 2_000]],
  isByChain = false,
  settings: Partial<VenueSettings> = {},
) {
  bench = await kindsBench({ path, isByChain, settings })
  const { engine } = engineOver(bench, { account })
  running = engine
  await engine.start()
  const { clock, journal } = bench
  const send = (more: Partial<OpenCommand>) =>
    engine.operate({ ...opening, ...more }, { by: 'ann', via: 'control' })
  return {
    ...{ clock, journal, send },
    ask: (command: OperatorCommand) => engine.operate(command, { by: 'ann', via: 'control' }),
    quote: async (more: Partial<OpenCommand>): Promise<ManualQuote> => {
      const answer = await send({ ...more, isPreview: true })
      if (!answer.ok || answer.quote === undefined) throw new Error(JSON.stringify(answer))
      return answer.quote
    },
    position: async (direction: 'long' | 'short' = 'long') =>
      (await bench?.snapshot())?.positions.value.find((each) => each.direction === direction),
  }
}

test('a size by risk loses that much at its stop after all costs, and a cent more of it would lose more', async () => {
  const { quote } = await desk()
  const { sizeUsd, lostAtStopUsd, cap } = await quote({ risk: '50', stopLoss: '3%' })
  expect(BigInt(lostAtStopUsd ?? 0)).toBeLessThanOrEqual(0n)
  const lostUsd = -BigInt(lostAtStopUsd ?? 0)
  expect([lostUsd <= usd(50), lostUsd > usd('49.9')]).toEqual([true, true])
  // The plain quotient would be more.
  expect(BigInt(sizeUsd)).toBeLessThan((usd(50) * 100n) / 3n)
  expect(cap).toBeNull()
})

test('a limit, and a wallet, that leave less than the risk allows are named with what is at risk by them', async () => {
  const { quote } = await desk({ maxPositionSizeUsd: usd(1_200) })
  const capped = await quote({ risk: '50', stopLoss: '3%' })
  expect(BigInt(capped.sizeUsd)).toBe(usd(1_200))
  const atRisk = formatDollars(-BigInt(capped.lostAtStopUsd ?? 0))
  expect(capped.cap).toBe(`limit maxPositionSizeUsd; ${atRisk} at risk instead of $50.00`)
  expect(capped.limits).toEqual([
    { limit: 'maxPositionSizeUsd', usedUsd: usd(1_200).toString(), wholeUsd: usd(1_200).toString() },
  ])
})

test('a ticket names the exits that are planned for its position, and counts an order once, from its message to its fill', async () => {
  const { quote, send, ask, clock, position } = await desk(
    { maxTotalExposureUsd: usd(5_000) },
    [[0, 2_000]],
    true,
  )
  expect(await send({ size: '500', leverage: '2' })).toMatchObject({ ok: true })
  const used: string[] = []
  for (let at = 0; at < 40; at += 1) {
    await clock.advance(250)
    const { limits } = await quote({ id: 'two', direction: 'short', size: '100', leverage: '2' })
    used.push(...limits.map(({ usedUsd }) => formatDollars(BigInt(usedUsd))))
  }
  expect([...new Set(used)]).toEqual(['$600.00'])
  expect(await position()).toMatchObject({ sizeInUsd: usd(500) })
  const bare = await quote({ id: 'two', size: '100', leverage: '2' })
  expect([bare.planned, bare.rows.order.at(-1)]).toEqual([
    undefined,
    ['exits', expect.stringContaining('no stop-loss')],
  ])
  const protect = { type: 'protect', market: ethSymbol, direction: 'long', stopLoss: '1800', own: false }
  expect(await ask(protect as OperatorCommand)).toMatchObject({ ok: true })
  await clock.advance(20_000)
  const { planned, rows } = await quote({ id: 'two', size: '100', leverage: '2' })
  expect(planned).toEqual([{ type: 'stop-loss', triggerPrice: usd(1_800).toString() }])
  expect(rows.order.at(-1)).toEqual(['exits', expect.stringMatching(/^stop-loss at \$1,800\.00/)])
  expect(rows.outcome[1]?.[1]).toContain('the stop-loss comes first')
})

test('a risk that sending alone costs, and one without a stop, are refused', async () => {
  const { send } = await desk()
  expect(await send({ risk: '0.5', stopLoss: '3%', isPreview: true })).toMatchObject({
    code: 'RISK_BELOW_COSTS',
  })
  expect(await send({ risk: '50', isPreview: true })).toMatchObject({ code: 'STOP_NEEDED' })
})

test('a size in tokens and one as a share of the equity become whole cents', async () => {
  const { quote } = await desk()
  const byTokens = await quote({ tokens: '0.25' })
  expect(Number(BigInt(byTokens.sizeUsd) / ONE_USD)).toBeCloseTo(500, -1)
  expect(byTokens.tokens).toMatch(/^0\.2[45]\d* ETH$/)
  const byShare = await quote({ equityBps: 100, leverage: '2' })
  expect(BigInt(byShare.sizeUsd)).toBeGreaterThan(0n)
  expect(BigInt(byShare.sizeUsd) % (ONE_USD / 100n)).toBe(0n)
})

test.each([
  ['long', 'short', '500', '5'],
  ['short', 'short', '5000', '10'],
  ['short', 'short', '300', '2'],
] as const)(
  'the liquidation of a ticket is that of the position after the fill, to its last shown place: %s',
  async (direction, collateral, size, leverage) => {
    const { quote, send, position, clock } = await desk()
    const asked = { direction, collateral, size, leverage }
    const { after, before } = await quote(asked)
    expect(before).toBeNull()
    expect(await send(asked)).toMatchObject({ ok: true })
    await clock.advance(20_000)
    const held = await position(direction)
    expect(formatPrice(BigInt(after?.liquidationPrice ?? 0))).toBe(formatPrice(held?.liquidationPrice ?? 0n))
    expect(after?.sizeUsd).toBe(held?.sizeInUsd.toString())
    // An addition begins where the position stands.
    const more = await quote({ ...asked, id: 'two' })
    expect(formatPrice(BigInt(more.before?.liquidationPrice ?? 0))).toBe(
      formatPrice(held?.liquidationPrice ?? 0n),
    )
    expect(await send({ ...asked, id: 'two' })).toMatchObject({ ok: true })
    await clock.advance(20_000)
    const twice = await position(direction)
    expect(formatPrice(BigInt(more.after?.liquidationPrice ?? 0))).toBe(
      formatPrice(twice?.liquidationPrice ?? 0n),
    )
  },
)

test('a stop-loss behind the liquidation is refused, before the confirmation and after it; that of an entry that waits is judged at its trigger', async () => {
  const { send } = await desk()
  const behind = { size: '1000', leverage: '10', stopLoss: '1700' }
  for (const isPreview of [true, false]) {
    expect(await send({ ...behind, isPreview })).toMatchObject({ code: 'STOP_BEHIND_LIQUIDATION' })
  }
  expect(await send({ ...behind, stopLoss: '1900', isPreview: true })).toMatchObject({ ok: true })
  // At a trigger of 1,850 the liquidation lies lower.
  const waits = { ...behind, limit: '1850', far: true, isPreview: true }
  expect(await send(waits)).toMatchObject({ ok: true })
  expect(await send({ ...waits, stopLoss: '1600' })).toMatchObject({ code: 'STOP_BEHIND_LIQUIDATION' })
  expect(bench?.venue.record()).toEqual([])
})

test('an entry more than 5 % away is shown as that and needs a word of agreement; the wrong side of the price is refused', async () => {
  const { quote, send } = await desk()
  expect((await quote({ size: '500', limit: '1950' })).farBps).toBeNull()
  const far = { size: '500', limit: '1880' }
  expect((await quote(far)).farBps).toBeGreaterThan(500)
  expect(await send(far)).toMatchObject({ code: 'PRICE_FAR' })
  expect(await send({ id: 'side', size: '500', limit: '2100', far: true })).toMatchObject({
    code: 'TRIGGER_WOULD_FIRE',
  })
  expect(await send({ ...far, far: true })).toMatchObject({ ok: true })
})

test('a price that moves away while the confirmation is open needs the agreement again', async () => {
  const { quote, send, clock } = await desk({}, [
    [0, 2_000],
    [60, 2_000],
    [61, 2_100],
  ])
  const near = { size: '500', limit: '1950' }
  const { quoted, farBps } = await quote(near)
  expect(farBps).toBeNull()
  await clock.advance(120_000)
  expect(await send({ ...near, quoted })).toMatchObject({ code: 'PRICE_FAR' })
})

test('what became worse than it was shown is refused, with both figures; what did not is sent at the size that was shown', async () => {
  const { quote, send, clock, journal } = await desk({}, [
    [0, 2_000],
    [60, 2_000],
    [61, 2_010],
  ])
  const asked = { risk: '20', stopLoss: '3%' }
  const { quoted, sizeUsd } = await quote(asked)
  await clock.advance(120_000)
  expect(await send({ ...asked, quoted })).toMatchObject({
    code: 'QUOTE_WORSE',
    reason: expect.stringMatching(
      /could fill at \$2,0\d\d\.\d\d now, and at \$2,0\d\d\.\d\d by what was shown/,
    ),
  })
  expect(bench?.venue.record()).toEqual([])
  const anew = await quote(asked)
  const sent = await send({ ...asked, quoted: { ...anew.quoted, size: quoted.size } })
  expect(sent).toMatchObject({ ok: true })
  const intentId = sent.ok ? (sent.intentId ?? '') : ''
  expect((await journal.intent(intentId))?.intent.terms.sizeDeltaUsd.toString()).toBe(sizeUsd)
})

test('the same id makes one order, however often it is sent, and for other terms it is used', async () => {
  const { quote, send, journal } = await desk()
  const asked = { risk: '20', stopLoss: '3%' }
  const { quoted } = await quote(asked)
  const answers = await Promise.all([send({ ...asked, quoted }), send({ ...asked, quoted })])
  const again = await send(asked)
  const ids = [...answers, again].map((answer) => (answer.ok ? answer.intentId : answer.code))
  expect(new Set(ids).size).toBe(1)
  expect(journal.summary().intents).toBe(1)
  expect(await send({ ...asked, risk: '21' })).toMatchObject({ code: 'ID_USED' })
})

test('a short symbol means the same pool to a task as to an order by hand, and is asked for with figures where two are near', async () => {
  const { send } = await desk({}, undefined, false, { onlyMarkets: [] })
  const listed = (await bench?.api.getMarkets())?.value.filter(
    ({ isListed, isSpotOnly }) => isListed && !isSpotOnly,
  )
  const shorts = (listed ?? []).map(({ symbol }) => symbol.split('/')[0] ?? '')
  const several = [...new Set(shorts.filter((name, at) => shorts.indexOf(name) !== at))]
  const found = { asked: 0, chosen: 0 }
  for (const market of several) {
    const order = await send({ id: `o-${market}`, market, size: '100', leverage: '2', isPreview: true })
    const task = await running?.operate(
      {
        ...{ type: 'task', id: `t-${market}`, kind: 'twap', market, direction: 'long', size: '1000' },
        ...{ parts: 4, minutes: 8, leverage: '2', reduce: false, isPreview: true },
      },
      { by: 'ann', via: 'control' },
    )
    if (order.ok) {
      expect(task).toMatchObject({ ok: true, market: order.quote?.market })
      expect(task?.ok === true ? task.statement : '').toContain(order.quote?.chosen)
      found.chosen += 1
    } else {
      expect(order.code).toBe('MARKET_AMBIGUOUS')
      expect(order.pools?.length).toBeGreaterThan(1)
      expect(task).toEqual(order)
      found.asked += 1
    }
  }
  expect(Math.min(found.asked, found.chosen)).toBeGreaterThan(0)
})
