/**
 * Payloads of every kind from the real venue, over sockets: unmodified they are all verified, in both modes of building;
 * with any one thing changed they are all refused, and the refusal names what was changed.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Malformed } from '../../src/api/decode/decode.ts'
import type { Prepared } from '../../src/api/orders/expressOrders.ts'
import { orderPayload } from '../../src/api/orders/orderPayload.ts'
import type { Decision } from '../../src/domain/order/decision.ts'
import { type Intent, lastAttempt } from '../../src/domain/order/intent.ts'
import { isAdding } from '../../src/domain/order/warning.ts'
import { executionFeeLimit, relayFeeLimit, type SigningPolicy } from '../../src/execution/context/policy.ts'
import { prepare } from '../../src/execution/lanes/prepare.ts'
import { relayProposal } from '../../src/execution/lanes/relayParams.ts'
import { armedFactsOf, sign } from '../../src/execution/verify/sign.ts'
import { verify, verifyBatch } from '../../src/execution/verify/verify.ts'
import { ZERO_ADDRESS, ZERO_HASH } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { emptySubaccountApproval } from '../../src/protocol/signing/approvalTypes.ts'
import { type Batch, hashRelayParams, type RelayParams } from '../../src/protocol/signing/relayRouter.ts'
import { hashSubaccountApproval } from '../../src/protocol/signing/subaccountApproval.ts'
import { MAX_UINT256, usd } from '../../src/protocol/units.ts'
import { usdc, weth } from '../support/intents.ts'
import { btcSymbol, ethSymbol, type KindsBench, kindsBench, priceAt, signer } from '../support/kinds.ts'

const stranger = '0x1563915e194D8CfBA1943570603F7606A3115508'

interface Payload {
  readonly name: string
  readonly intent: Intent
  readonly prepared: Prepared
  /** With the mode of who signs. */
  readonly policy: SigningPolicy
  /** The answer of the venue that it came in, as text. */
  readonly body: string
  readonly nowSeconds: number
}

let at: KindsBench
let delegated: KindsBench
let policy: SigningPolicy
/** Of the account's own key. */
let payloads: readonly Payload[] = []
/** The same of a delegated key. */
let delegatedPayloads: readonly Payload[] = []

const nowSeconds = () => at.clock.now() / 1000

async function decisions(at: KindsBench): Promise<readonly (readonly [string, Decision])[]> {
  const snapshot = await at.snapshot()
  const list: (readonly [string, Decision])[] = []
  for (const symbol of [ethSymbol, btcSymbol]) {
    const marketToken = await at.marketToken(symbol)
    for (const direction of ['long', 'short'] as const) {
      const base = { marketToken, direction, collateralToken: usdc, reason: 'the test wishes it' } as const
      const sign = direction === 'long' ? 1 : -1
      const worse = priceAt(snapshot, marketToken, -1000 * sign)
      const better = priceAt(snapshot, marketToken, 1000 * sign)
      const tpsl = [
        { type: 'take-profit', triggerPrice: better, shareBps: 5000 },
        { type: 'stop-loss', triggerPrice: worse },
      ] as const
      const increase = { ...base, kind: 'increase', sizeDeltaUsd: usd(300), leverageBps: 30_000 } as const
      const decrease = { ...base, kind: 'decrease', sizeDeltaUsd: usd(90), keepLeverage: false } as const
      const resting = snapshot.orders.value.find(
        (order) => order.marketToken === marketToken && order.direction === direction,
      )
      const name = `${symbol.slice(0, 3)} ${direction}`
      list.push(
        [`${name} increase`, increase],
        [`${name} increase with exits`, { ...increase, tpsl }],
        [`${name} limit`, { ...increase, orderType: 'limit', triggerPrice: worse, tpsl: [] }],
        [
          `${name} limit with an exit`,
          {
            ...increase,
            orderType: 'limit',
            triggerPrice: worse,
            tpsl: [{ type: 'take-profit', triggerPrice: better }],
          },
        ],
        [`${name} stop-market`, { ...increase, orderType: 'stop-market', triggerPrice: better }],
        [
          `${name} twap`,
          {
            ...increase,
            orderType: 'twap',
            twap: { parts: 7, durationSeconds: 100 },
            sizeDeltaUsd: usd(301),
          },
        ],
        [`${name} decrease`, decrease],
        [`${name} decrease that keeps leverage`, { ...decrease, keepLeverage: true }],
        [`${name} take-profit`, { ...decrease, orderType: 'take-profit', triggerPrice: better }],
        [`${name} stop-loss`, { ...decrease, orderType: 'stop-loss', triggerPrice: worse }],
        [
          `${name} decrease twap`,
          { ...decrease, orderType: 'twap', twap: { parts: 3, durationSeconds: 50 }, keepLeverage: true },
        ],
        [`${name} close`, { ...base, kind: 'close' }],
        [`${name} collateral-in`, { ...base, kind: 'collateral-in', amount: 25_000_000n }],
        [`${name} collateral-out`, { ...base, kind: 'collateral-out', amount: 5_000_000n }],
      )
      if (symbol === ethSymbol)
        list.push([
          `${name} swap`,
          { ...base, kind: 'swap', payAmount: direction === 'long' ? 70_000_000n : 10n ** 16n },
        ])
      if (resting !== undefined) {
        const { orderKey } = resting
        list.push(
          [`${name} edit`, { ...base, kind: 'edit', orderKey, sizeDeltaUsd: usd(180), triggerPrice: worse }],
          [`${name} cancel`, { ...base, kind: 'cancel', orderKeys: [orderKey] }],
        )
      }
    }
  }
  return list
}

/** Payloads of every kind from a venue on which the account holds positions and resting orders. */
async function collect(approvedActions?: number): Promise<readonly [KindsBench, readonly Payload[]]> {
  let body = ''
  const at = await kindsBench({
    settings: { startBalances: { USDC: '100000', ETH: '50', WETH: '10' } },
    ...(approvedActions === undefined ? {} : { approvedActions }),
    onAnswer: (url, text) => {
      if (url.endsWith('/prepare')) body = text
    },
  })
  const { subaccount } = at
  await subaccount?.check(0)
  const before = await at.snapshot()
  for (const symbol of [ethSymbol, btcSymbol]) {
    const marketToken = await at.marketToken(symbol)
    for (const direction of ['long', 'short'] as const) {
      const base = { marketToken, direction, collateralToken: usdc, reason: 'the test wishes it' } as const
      const open = { ...base, kind: 'increase', sizeDeltaUsd: usd(200), leverageBps: 20_000 } as const
      await at.accept(open)
      await at.clock.advance(5_000)
      await subaccount?.check(0)
      const far = priceAt(before, marketToken, direction === 'long' ? -2000 : 2000)
      await at.accept({ ...open, orderType: 'limit', triggerPrice: far })
      await at.clock.advance(5_000)
    }
  }
  const payloads: Payload[] = []
  for (const [name, decision] of await decisions(at)) {
    const admitted = await at.judge(decision)
    if (admitted.kind === 'denial') throw new Error(`${name}: ${JSON.stringify(admitted.denial)}`)
    const { intent } = admitted
    const approval = subaccount?.approvalFor(intent)
    if (approval !== undefined && 'waitsFor' in approval) throw new Error(approval.waitsFor)
    const prepared = await prepare(at.context, intent, at.api.hosts.api[0] ?? '', {
      subaccountApproval: approval,
    })
    const feeEstimate = at.context.fees?.estimateFor(intent, {
      batch: prepared.typedData.batch,
      relayParams: prepared.relayParams,
    })
    const policy: SigningPolicy = {
      ...at.context.signingPolicy(),
      ...(feeEstimate === undefined ? {} : { feeEstimate }),
      ...(approval === undefined ? {} : { mode: { kind: 'subaccount', approval } }),
    }
    payloads.push({ name, intent, prepared, policy, body, nowSeconds: at.clock.now() / 1000 })
  }
  return [at, payloads]
}

beforeAll(async () => {
  ;[at, payloads] = await collect()
  ;[delegated, delegatedPayloads] = await collect(1_000)
  policy = at.context.signingPolicy()
})

afterAll(async () => {
  await at.close()
  await delegated.close()
})

const differencesOf = (result: object) =>
  'differences' in result ? (result.differences as { field: string; expected: string; found: string }[]) : []

test('every unmodified payload of every kind is verified, and without its envelope too', () => {
  expect(payloads.length).toBeGreaterThanOrEqual(60)
  expect(delegatedPayloads.length).toBe(payloads.length)
  const refused = [...payloads, ...delegatedPayloads].flatMap((payload) => {
    const { name, intent, prepared, policy, nowSeconds } = payload
    const { typedData, relayParams } = prepared
    const proposal = { batch: typedData.batch, relayParams }
    return [
      verify(arbitrum, intent, prepared, policy, nowSeconds),
      verifyBatch(arbitrum, intent, proposal, policy, nowSeconds),
    ]
      .flatMap(differencesOf)
      .map((difference) => `${name}: ${JSON.stringify(difference)}`)
  })
  expect(refused).toEqual([])
})

test('in subaccount mode the message must name the account and the approval, and the other router', () => {
  const approval = emptySubaccountApproval(stranger, arbitrum.chainId)
  const approvalHash = hashSubaccountApproval(approval)
  const mode: SigningPolicy = { ...policy, mode: { kind: 'subaccount', approval } }
  for (const { intent, prepared } of payloads) {
    const { batch } = prepared.typedData
    const proposal = {
      batch: { ...batch, account: intent.account, subaccountApproval: approvalHash },
      relayParams: prepared.relayParams,
    }
    expect(verifyBatch(arbitrum, intent, proposal, mode, nowSeconds())).toMatchObject({
      router: arbitrum.contracts.subaccountGelatoRelayRouter,
    })
    const fields = differencesOf(verify(arbitrum, intent, prepared, mode, nowSeconds())).map(
      ({ field }) => field,
    )
    expect(fields).toEqual(
      expect.arrayContaining([
        'typedData.domain.verifyingContract',
        'message.account',
        'message.subaccountApproval',
      ]),
    )
  }
})

/** A changed copy of a leaf, for every way that it can be changed. */
function changesOf(value: unknown): readonly unknown[] {
  if (typeof value === 'bigint') {
    // A hundred times a fee lies within the highest one and beyond our own estimate.
    const numbers = [0n, 1n, value - 1n, value + 1n, value * 2n, value * 100n, MAX_UINT256, MAX_UINT256 - 1n]
    return numbers.filter((number) => number >= 0n && number <= MAX_UINT256)
  }
  if (typeof value === 'boolean') return [!value]
  if (typeof value !== 'string') return []
  if (value.length === 42) return [stranger, ZERO_ADDRESS, weth]
  if (value === '0x') return ['0x01', ZERO_HASH]
  return [ZERO_HASH, `0x${'01'.repeat(32)}`, `${value.slice(0, -2)}ff`]
}

/** Something to put into an empty list. */
function extraOf(leaf: string): unknown {
  switch (leaf) {
    case 'cancelOrderKeys':
      return ZERO_HASH
    case 'sendAmounts':
      return 1n
    case 'externalCallDataList':
      return '0x01'
    case 'tokenPermits':
      return {
        owner: stranger,
        spender: stranger,
        value: 1n,
        deadline: 1n,
        v: 27,
        r: ZERO_HASH,
        s: ZERO_HASH,
        token: usdc,
      }
    default:
      return stranger
  }
}

interface Change {
  readonly path: string
  readonly value: unknown
  readonly root: unknown
}

/** Every way to change one thing anywhere inside a value. */
function* everyChange(root: unknown, path: string): Generator<Change> {
  if (Array.isArray(root)) {
    const extra = root[0] ?? extraOf(path.replace(/.*\./, ''))
    if (!path.endsWith('updateOrderParamsList') && !path.endsWith('createOrderParamsList')) {
      yield { path, value: 'one more', root: [...root, extra] }
    } else if (root.length > 0) yield { path, value: 'one twice', root: [...root, root[0]] }
    if (root.length > 0) yield { path, value: 'one less', root: root.slice(1) }
    if (root.length > 1) yield { path, value: 'turned round', root: [...root].reverse() }
    for (const [index, inner] of root.entries()) {
      for (const change of everyChange(inner, `${path}[${index}]`))
        yield { ...change, root: root.map((each, place) => (place === index ? change.root : each)) }
    }
    return
  }
  if (typeof root === 'object' && root !== null) {
    for (const [name, inner] of Object.entries(root)) {
      for (const change of everyChange(inner, `${path}.${name}`))
        yield { ...change, root: { ...root, [name]: change.root } }
    }
    return
  }
  for (const value of changesOf(root)) if (value !== root) yield { path, value, root: value }
}

const json = (value: unknown) =>
  JSON.stringify(value, (_name, inner) => (typeof inner === 'bigint' ? inner.toString() : inner))

/** What an amount of an order may be, whatever it is in the message. */
interface Bound {
  readonly least?: bigint
  readonly most: bigint
  /** Values outside that say the same. */
  readonly others?: readonly bigint[]
}

/** The bound of a field, counted from what was meant; undefined for fields that are one value. */
function boundOf(
  { kind, terms }: Intent,
  prepared: Prepared,
  index: number,
  leaf: string,
): Bound | undefined {
  const { held, twap, tpsl, collateralDelta, sizeDeltaUsd } = terms
  const parts = BigInt(twap?.parts ?? 1)
  const exit = tpsl?.[index - Number(parts)]
  const whole = { usd: held?.sizeInUsd ?? 0n, collateral: held?.collateralAmount ?? 0n }
  if (exit !== undefined) {
    const total = { usd: whole.usd + sizeDeltaUsd, collateral: whole.collateral + collateralDelta }
    const found = prepared.typedData.batch.createOrderParamsList[index]
    // Exits stand in any order; the two of each payload are told apart by their type.
    const meant = tpsl?.find(({ type }) => (type === 'take-profit') === (found?.orderType === 5n)) ?? exit
    const isWhole = meant.sizeDeltaUsd >= total.usd
    if (leaf === 'sizeDeltaUsd' && isWhole)
      return { least: meant.sizeDeltaUsd, most: meant.sizeDeltaUsd, others: [MAX_UINT256] }
    if (leaf !== 'initialCollateralDeltaAmount') return undefined
    const share = (total.collateral * meant.sizeDeltaUsd + total.usd - 1n) / total.usd
    const most = share + total.collateral / 50n
    return { most: isWhole || most > total.collateral ? total.collateral : most }
  }
  if (leaf === 'acceptablePrice' && kind === 'collateral-in') return { most: MAX_UINT256 }
  if (leaf === 'minOutputAmount' && kind === 'collateral-out') return { most: terms.mostOutputUsd ?? 0n }
  if (leaf === 'minOutputAmount' && kind === 'swap') {
    const least = terms.swap?.minOutputAmount ?? 0n
    return { least, most: 2n * least }
  }
  if (leaf !== 'initialCollateralDeltaAmount' || (kind !== 'decrease' && kind !== 'close')) return undefined
  // A market order of all that there is pays out all of it, whatever it says.
  if (terms.orderType === 'market' && sizeDeltaUsd >= whole.usd) return { most: MAX_UINT256 }
  return { most: (sizeDeltaUsd >= whole.usd ? whole.collateral : collateralDelta) / parts }
}

test('just inside each bound is signed, and one unit outside is refused', () => {
  let inside = 0
  let outside = 0
  const wrong: string[] = []
  for (const payload of [...payloads, ...delegatedPayloads]) {
    const { name, intent, prepared, policy, nowSeconds } = payload
    const { batch, relayParams: asked } = { ...prepared.typedData, ...prepared }
    const orders = batch.createOrderParamsList
    const paid = BigInt(Math.max(1, orders.length + batch.updateOrderParamsList.length))
    const clock = BigInt(Math.floor(nowSeconds))
    const earliest = clock + BigInt(policy.minDeadlineSeconds)
    const latest = clock + BigInt(policy.maxDeadlineSeconds)
    const highest = relayFeeLimit(policy, intent) * paid
    const withDeadline = (deadline: bigint): RelayParams => ({ ...asked, deadline })
    const withFee = (feeAmount: bigint): RelayParams => ({ ...asked, fee: { ...asked.fee, feeAmount } })
    for (const [what, relayParams, isInside] of [
      ['deadline', withDeadline(earliest), true],
      ['deadline', withDeadline(earliest - 1n), false],
      ['deadline', withDeadline(latest), true],
      ['deadline', withDeadline(latest + 1n), false],
      ['fee', withFee(highest), true],
      ['fee', withFee(highest + 1n), false],
    ] as const) {
      if (isInside) inside += 1
      else outside += 1
      const proposal = { batch: { ...batch, relayParams: hashRelayParams(relayParams) }, relayParams }
      const isSigned = !('kind' in verifyBatch(arbitrum, intent, proposal, policy, nowSeconds))
      if (isSigned !== isInside)
        wrong.push(`${name} ${what} ${json(relayParams)} is ${isSigned ? 'signed' : 'refused'}`)
    }
    for (const [index, order] of orders.entries()) {
      for (const leaf of Object.keys(order.numbers) as (keyof typeof order.numbers)[]) {
        const bound =
          leaf === 'executionFee'
            ? { most: executionFeeLimit(policy, intent) }
            : boundOf(intent, prepared, index, leaf)
        if (bound === undefined) continue
        const isSigned = (value: bigint): boolean => {
          const createOrderParamsList = orders.map((each, at) =>
            at === index ? { ...each, numbers: { ...each.numbers, [leaf]: value } } : each,
          )
          const proposal = { batch: { ...batch, createOrderParamsList }, relayParams: asked }
          return !('kind' in verifyBatch(arbitrum, intent, proposal, policy, nowSeconds))
        }
        const { least = 0n, most, others = [] } = bound
        for (const value of [least, most, ...others]) {
          inside += 1
          if (!isSigned(value)) wrong.push(`${name} [${index}].${leaf} ${value} is refused`)
        }
        const beyond = [...(least > 0n ? [least - 1n] : []), ...(most < MAX_UINT256 ? [most + 1n] : [])]
        for (const value of beyond) {
          outside += 1
          if (isSigned(value)) wrong.push(`${name} [${index}].${leaf} ${value} is signed`)
        }
      }
    }
  }
  expect(wrong).toEqual([])
  process.stdout.write(`${inside} values just inside a bound signed, ${outside} just outside refused\n`)
  expect(inside).toBeGreaterThan(1_000)
  expect(outside).toBeGreaterThan(690)
})

/** What policy leaves open: a change inside it is no attack. */
function isLeftOpen({ path, value }: Change, { intent, prepared, policy }: Payload): boolean {
  const { terms, kind } = intent
  const leaf = path.replace(/.*\./, '')
  const order = /createOrderParamsList\[(\d+)\]/.exec(path)
  const isExit = order !== null && Number(order[1]) >= (terms.twap?.parts ?? 1)
  const bound = order === null ? undefined : boundOf(intent, prepared, Number(order[1]), leaf)
  if (bound !== undefined && typeof value === 'bigint') {
    const { least = 0n, most } = bound
    if ((value >= least && value <= most) || bound.others?.includes(value) === true) return true
  }
  if (leaf === 'executionFee') return typeof value === 'bigint' && value <= executionFeeLimit(policy, intent)
  if (leaf === 'executionFeeIncrease' && kind === 'edit') {
    const room = executionFeeLimit(policy, intent) - (terms.edit?.executionFeeHeld ?? 0n)
    return typeof value === 'bigint' && value <= room
  }
  if (leaf === 'feeAmount') {
    const orders = BigInt(Math.max(1, prepared.typedData.batch.createOrderParamsList.length))
    return typeof value === 'bigint' && value <= relayFeeLimit(policy, intent) * orders
  }
  if (leaf === 'userNonce') return true
  if (leaf === 'deadline') return typeof value === 'bigint' && value > 10n && value < 10n ** 10n
  if (leaf === 'cancellationReceiver') return value === ZERO_ADDRESS
  if (leaf === 'autoCancel')
    return isExit || (kind === 'decrease' && ['take-profit', 'stop-loss'].includes(terms.orderType))
  if (leaf === 'decreasePositionSwapType')
    return (isExit || !['increase', 'collateral-in', 'swap'].includes(kind)) && (value === 0n || value === 1n)
  if (leaf === 'acceptablePrice' && order !== null) {
    const found =
      prepared.typedData.batch.createOrderParamsList[Number(order[1])]?.numbers.acceptablePrice ?? 0n
    // One unit, where a price bounds it and not "any".
    const isNear = typeof value === 'bigint' && (value === found + 1n || value === found - 1n)
    return isNear && found > 1n && found < MAX_UINT256 - 1n && kind !== 'swap'
  }
  if (leaf.startsWith('validFromTime') && terms.twap !== undefined) {
    const found =
      prepared.typedData.batch.createOrderParamsList[Number(order?.[1])]?.numbers.validFromTime ?? 0n
    return typeof value === 'bigint' && (value === found + 1n || value === found - 1n)
  }
  // Cancels do not depend on each other.
  if (leaf === 'cancelOrderKeys') return value === 'turned round'
  // No metadata at all is no harm; a swap may go through any listed market.
  if (leaf === 'dataList' && value === 'one less') return terms.twap === undefined
  if (leaf.startsWith('dataList[')) return typeof value === 'string' && isSameMetadata(value, path, prepared)
  if (leaf === 'tokens' || leaf.startsWith('tokens[')) return value !== 'one more' && value !== 'one less'
  return leaf === 'providers' && value === 'turned round'
}

function isSameMetadata(value: string, path: string, prepared: Prepared): boolean {
  const index = Number(/createOrderParamsList\[(\d+)\]/.exec(path)?.[1])
  return prepared.typedData.batch.createOrderParamsList[index]?.dataList[0] === value
}

test('a payload with any one thing changed is refused, whatever its kind', () => {
  let cases = 0
  const missed: string[] = []
  for (const payload of ofEth()) {
    const { name, intent, prepared, policy, nowSeconds } = payload
    const { batch } = prepared.typedData
    const judge = (change: Change, proposal: { batch: Batch; relayParams: RelayParams }) => {
      if (isLeftOpen(change, payload)) return
      cases += 1
      const result = verifyBatch(arbitrum, intent, proposal, policy, nowSeconds)
      const fields = differencesOf(result).map(({ field }) => field)
      const isNamed = fields.some((field) => field.startsWith(change.path) || change.path.startsWith(field))
      if (!isNamed) missed.push(`${name} ${change.path} ${json(change.value)}: ${fields.join()}`)
    }
    for (const change of everyChange(batch, 'message')) {
      if (json(change.root) === json(batch)) continue
      judge(change, { batch: change.root as Batch, relayParams: prepared.relayParams })
    }
    for (const change of everyChange(prepared.relayParams, 'relayParams')) {
      if (json(change.root) === json(prepared.relayParams)) continue
      const relayParams = change.root as RelayParams
      // An attacker keeps the hash right.
      judge(change, { batch: { ...batch, relayParams: hashRelayParams(relayParams) }, relayParams })
    }
  }
  expect(missed).toEqual([])
  expect(cases).toBeGreaterThan(10_000)
  process.stdout.write(`${cases} changed payloads refused\n`)
})

test('a copy that differs from the message in any one thing is refused, in either lane', () => {
  let cases = 0
  const missed: string[] = []
  for (const payload of ofEth()) {
    const { name, intent, prepared, policy, nowSeconds } = payload
    for (const lane of ['order-chain', 'relay'] as const) {
      for (const change of everyChange(prepared.copy, 'copy')) {
        if (json(change.root) === json(prepared.copy) || saysTheSame(change, prepared)) continue
        // The builder's inputs are judged the same in either lane.
        if (lane === 'relay' && /^copy\.(order|update)Inputs/.test(change.path)) continue
        cases += 1
        const copied = { ...prepared, copy: change.root as Prepared['copy'] }
        const result = verify(arbitrum, { ...intent, lane }, copied, policy, nowSeconds)
        const isRefused = 'kind' in result && result.code === 'TYPED_DATA_MISMATCH'
        if (!isRefused) missed.push(`${name} ${lane} ${change.path} ${json(change.value)}`)
      }
    }
  }
  expect(missed).toEqual([])
  process.stdout.write(`${cases} copies that differ refused\n`)
  expect(cases).toBeGreaterThan(10_000)
})

/** Changes of a copy that say what the message says, and of inputs that it does not say. */
function saysTheSame({ path, value }: Change, prepared: Prepared): boolean {
  const leaf = path.replace(/.*\./, '')
  if (leaf === 'cancelOrderKeys' || leaf === 'tokenTransfers') return value === 'turned round'
  // The metadata word may be missing from the copy, or have its express flag set as in the message.
  if (leaf === 'dataList') return value === 'one less'
  if (leaf.startsWith('dataList[')) return typeof value === 'string' && isSameMetadata(value, path, prepared)
  if (!/^copy\.(order|update)Inputs/.test(path)) return false
  // A host's answer has them beside each order, never a list of another length.
  if (/Inputs$/.test(path)) return true
  const at = Number(/\[(\d+)\]/.exec(path)?.[1])
  const order = prepared.typedData.batch.createOrderParamsList[at]
  // The venue rounds a trigger down to the unit of the contract.
  if (leaf === 'triggerPrice' && typeof value === 'bigint') {
    const found = path.startsWith('copy.order')
      ? prepared.copy.orderInputs?.[at]?.params.triggerPrice
      : prepared.copy.updateInputs?.[at]?.params.triggerPrice
    return found !== undefined && found < MAX_UINT256 && value / 10n ** 18n === found / 10n ** 18n
  }
  // Without a payment its token is no one's; the native token is its wrapped form.
  const isReduction = order !== undefined && [4n, 5n, 6n].includes(order.orderType)
  if (isReduction && leaf === 'payTokenAddress') return true
  const isWeth = (text: unknown) => text === weth
  const found = path
    .replace(/^copy\./, '')
    .split(/[.[\]]+/)
    .filter((name) => name !== '')
    .reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], prepared.copy)
  return value === ZERO_ADDRESS && isWeth(found) && leaf !== 'tokenAddress' && !leaf.startsWith('swapPath')
}

/** Payloads of one market of both kinds of key. */
const ofEth = (): readonly Payload[] =>
  [...payloads, ...delegatedPayloads].filter(({ name }) => name.startsWith('ETH'))

test("in the relay lane a message of the caller's own with any one thing changed is refused", () => {
  let cases = 0
  const missed: string[] = []
  for (const payload of ofEth()) {
    const { name, prepared, policy, nowSeconds } = payload
    // A message of the caller's own makes no twap, whose parts would not be told apart, and no swap.
    if (payload.intent.terms.twap !== undefined || payload.intent.kind === 'swap') continue
    const { createOrderParamsList, updateOrderParamsList, cancelOrderKeys } = prepared.typedData.batch
    const batch = { createOrderParamsList, updateOrderParamsList, cancelOrderKeys }
    const intent: Intent = {
      ...payload.intent,
      kind: 'batch',
      lane: 'relay',
      terms: { ...payload.intent.terms, batch },
    }
    const { relayParams } = prepared
    const message = { intent, attempt: 1, actions: batch, fee: relayParams, nowSeconds, validForSeconds: 120 }
    const proposal = relayProposal(arbitrum, policy, message)
    expect(differencesOf(verifyBatch(arbitrum, intent, proposal, policy, nowSeconds)), name).toEqual([])
    const judge = (change: Change, changed: typeof proposal) => {
      cases += 1
      if ('kind' in verifyBatch(arbitrum, intent, changed, policy, nowSeconds)) return
      missed.push(`${name} ${change.path} ${json(change.value)}`)
    }
    for (const change of everyChange(proposal.batch, 'message')) {
      if (json(change.root) === json(proposal.batch)) continue
      judge(change, { ...proposal, batch: change.root as Batch })
    }
    for (const change of everyChange(proposal.relayParams, 'relayParams')) {
      if (json(change.root) === json(proposal.relayParams) || isLeftOpen(change, payload)) continue
      const relay = change.root as RelayParams
      judge(change, { batch: { ...proposal.batch, relayParams: hashRelayParams(relay) }, relayParams: relay })
    }
  }
  expect(missed).toEqual([])
  expect(cases).toBeGreaterThan(5_000)
  process.stdout.write(`${cases} changed messages of the relay lane refused\n`)
})

/** A JSON text with the value at `path` replaced by another text. */
interface Poison {
  readonly path: string
  readonly what: string
  readonly text: string
}

/** Look-alikes of a text: Cyrillic letters, full-width digits, invisible and blank characters, other ways to write a number. */
function lookAlikes(value: string): readonly string[] {
  return [
    `${value} `,
    ` ${value}`,
    `${value}\u200b`,
    value.replace(/[ae]/, (letter) => (letter === 'a' ? '\u0430' : '\u0435')),
    value.replace(/\d/, (digit) => String.fromCharCode(0xff10 + Number(digit))),
    value.startsWith('0x') ? value.slice(2) : `0x${value}`,
    value.startsWith('0x') ? value.replace('0x', '0X') : `+${value}`,
    value.startsWith('0x') ? value.slice(0, -1) : `${value}.0`,
    value.startsWith('0x') ? `${value}00` : `-${value}1`,
    `${value}e3`,
    `${value}n`,
  ].filter((each) => each !== value)
}

const prototypeKeys = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'extra',
] as const

/** Every way to make one value of a JSON text another type, a look-alike, or an object with a key too many or too few. */
function* everyPoison(value: unknown, path: string): Generator<Poison> {
  if (Array.isArray(value)) {
    for (const text of ['{}', 'null', '"0x"', '0', '{"length":0}']) yield { path, what: 'wrong type', text }
    for (const [index, inner] of value.entries())
      for (const { text, ...rest } of everyPoison(inner, `${path}[${index}]`))
        yield { ...rest, text: `[${value.map((each, at) => (at === index ? text : json(each))).join()}]` }
    return
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
    const object = (list: readonly (readonly [string, string])[]) =>
      `{${list.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join()}}`
    const texts = entries.map(([name, inner]) => [name, json(inner)] as const)
    for (const text of ['[]', 'null', '"{}"', '1']) yield { path, what: 'wrong type', text }
    for (const key of prototypeKeys) {
      yield { path, what: `key ${key}`, text: object([...texts, [key, object(texts)]]) }
    }
    for (const [at, [name, inner]] of entries.entries()) {
      const others = texts.filter((_each, place) => place !== at)
      yield { path: `${path}.${name}`, what: 'missing', text: object(others) }
      // What it would inherit if the key set a prototype.
      yield {
        path: `${path}.${name}`,
        what: 'inherited',
        text: object([...others, ['__proto__', object(texts)]]),
      }
      for (const { text, ...rest } of everyPoison(inner, `${path}.${name}`))
        yield { ...rest, text: object(texts.map((each, place) => (place === at ? [name, text] : each))) }
    }
    return
  }
  const types = ['null', '[]', '{}', '1.5', '-1', '1e400', typeof value === 'boolean' ? '1' : 'true', '""']
  for (const text of types) yield { path, what: 'wrong type', text }
  if (typeof value === 'boolean') yield { path, what: 'wrong type', text: `"${value}"` }
  if (typeof value === 'string')
    for (const text of lookAlikes(value)) yield { path, what: 'look-alike', text: JSON.stringify(text) }
}

test('an answer with any one value of another type, look-alike, inherited, missing or too many is refused', () => {
  const poisons = new Map<string, number>()
  let ignored = 0
  const missed: string[] = []
  // One direction with each kind of key: the texts do not differ otherwise.
  const own = payloads.filter(({ name }) => name.startsWith('ETH long'))
  const other = delegatedPayloads.filter(({ name }) => name.startsWith('ETH short'))
  for (const { name, intent, policy, body, nowSeconds } of [...own, ...other]) {
    const answer = JSON.parse(body)
    const { typedData, relayParams } = answer.payload
    const judge = (poison: Poison, payload: string): void => {
      const count = poisons.get(poison.what.replace(/^key .*/, 'extra key')) ?? 0
      poisons.set(poison.what.replace(/^key .*/, 'extra key'), count + 1)
      let prepared: Prepared
      try {
        const text = JSON.stringify({ ...answer, payload: null }).replace(
          '"payload":null',
          () => `"payload":${payload}`,
        )
        prepared = { ...orderPayload(JSON.parse(text)), host: 'here' }
      } catch (error) {
        if (error instanceof Malformed) return
        throw error
      }
      const result = verify(arbitrum, intent, prepared, policy, nowSeconds)
      if ('kind' in result) return
      // A field that the contract's relay parameters do not have is in no hash: the same is signed as without it.
      if (poison.what.startsWith('key ') && result.digest === digest) {
        ignored += 1
        return
      }
      missed.push(`${name} ${poison.path} ${poison.what} ${poison.text.slice(0, 60)}`)
    }
    const around = { ...answer.payload, typedData: undefined, relayParams: undefined }
    const whole = (typed: string, relay: string) =>
      `${JSON.stringify(around).slice(0, -1)},"typedData":${typed},"relayParams":${relay}}`
    let digest = ''
    // The same way with nothing changed: what is refused below is refused for its change.
    const unchanged = orderPayload({
      ...answer,
      payload: JSON.parse(whole(json(typedData), json(relayParams))),
    })
    const accepted = verify(arbitrum, intent, { ...unchanged, host: 'here' }, policy, nowSeconds)
    if ('kind' in accepted) throw new Error(`${name}: ${JSON.stringify(accepted.differences)}`)
    digest = accepted.digest
    for (const part of ['message', 'domain'] as const) {
      for (const poison of everyPoison(typedData[part], part)) {
        const typed = JSON.stringify({ ...typedData, [part]: null }).replace(
          `"${part}":null`,
          () => `"${part}":${poison.text}`,
        )
        judge(poison, whole(typed, json(relayParams)))
      }
    }
    for (const poison of everyPoison(relayParams, 'relayParams'))
      judge(poison, whole(json(typedData), poison.text))
  }
  expect(missed).toEqual([])
  const cases = [...poisons.values()].reduce((sum, each) => sum + each, 0)
  expect(cases).toBeGreaterThan(20_000)
  const list = [...poisons].map(([what, count]) => `${count} ${what}`).join(', ')
  process.stdout.write(
    `${cases} poisoned answers: ${list}; ${ignored} extra keys were in no hash and changed nothing, all else refused\n`,
  )
}, 60_000)

/** The code of the payload with one number of its first order, or of its first update, changed. */
function codeWith(name: string, field: string, change: (was: bigint) => bigint): string {
  const payload = payloads.find((each) => each.name === name)
  if (payload === undefined) throw new Error(name)
  const { intent, prepared } = payload
  const { batch } = prepared.typedData
  const [first, ...others] = batch.createOrderParamsList
  if (first === undefined) throw new Error(`${name} creates nothing`)
  const was = first.numbers[field as keyof typeof first.numbers]
  const changed = { ...first, numbers: { ...first.numbers, [field]: change(was) } }
  const proposal = {
    batch: { ...batch, createOrderParamsList: [changed, ...others] },
    relayParams: prepared.relayParams,
  }
  const result = verifyBatch(arbitrum, intent, proposal, policy, nowSeconds())
  return 'kind' in result ? result.code : 'verified'
}

test.each<readonly [string, string, (was: bigint) => bigint, string]>([
  ['ETH long increase', 'acceptablePrice', (was) => (was * 105n) / 100n, 'PRICE_OUT_OF_BOUNDS'],
  ['ETH long increase', 'acceptablePrice', (was) => was * 2n, 'TYPED_DATA_MISMATCH'],
  ['ETH long increase', 'acceptablePrice', () => MAX_UINT256, 'TYPED_DATA_MISMATCH'],
  ['ETH long limit', 'acceptablePrice', (was) => (was * 105n) / 100n, 'PRICE_OUT_OF_BOUNDS'],
  ['ETH long limit', 'acceptablePrice', () => MAX_UINT256, 'TYPED_DATA_MISMATCH'],
  ['ETH short take-profit', 'acceptablePrice', () => MAX_UINT256, 'TYPED_DATA_MISMATCH'],
  // A stop may be bounded around its trigger, and may not be of the other side's "any".
  ['ETH long stop-market', 'acceptablePrice', () => 0n, 'TYPED_DATA_MISMATCH'],
  ['ETH long stop-loss', 'acceptablePrice', () => MAX_UINT256, 'TYPED_DATA_MISMATCH'],
  ['ETH short stop-loss', 'acceptablePrice', () => 0n, 'TYPED_DATA_MISMATCH'],
  ['ETH long twap', 'acceptablePrice', (was) => was - 1n, 'TYPED_DATA_MISMATCH'],
  ['ETH long twap', 'triggerPrice', () => 0n, 'TYPED_DATA_MISMATCH'],
  ['ETH long swap', 'minOutputAmount', (was) => (was * 95n) / 100n, 'PRICE_OUT_OF_BOUNDS'],
  ['ETH long swap', 'minOutputAmount', () => 1n, 'TYPED_DATA_MISMATCH'],
  ['ETH long twap', 'executionFee', () => 2n * 10n ** 16n, 'FEE_ABOVE_LIMIT'],
  [
    'ETH long decrease that keeps leverage',
    'initialCollateralDeltaAmount',
    (was) => (was * 105n) / 100n,
    'POSITION_MOVED',
  ],
  [
    'ETH long decrease that keeps leverage',
    'initialCollateralDeltaAmount',
    (was) => was * 2n,
    'TYPED_DATA_MISMATCH',
  ],
  ['ETH long decrease', 'initialCollateralDeltaAmount', (was) => was + 1n, 'TYPED_DATA_MISMATCH'],
  ['ETH long collateral-out', 'initialCollateralDeltaAmount', (was) => was + 1n, 'TYPED_DATA_MISMATCH'],
])('%s with another %s is refused for what it is', (name, field, change, code) => {
  expect(codeWith(name, field, change)).toBe(code)
})

test('a limit swap is signed for what was asked, and refused as moved when impact lowered its least output, whatever the slippage', () => {
  const { intent, prepared } = payloads.find(({ name }) => name === 'ETH long swap') ?? {}
  const [swap] = prepared?.typedData.batch.createOrderParamsList ?? []
  if (intent === undefined || prepared === undefined || swap === undefined) throw new Error('no swap')
  const waits: Intent = { ...intent, terms: { ...intent.terms, orderType: 'limit' } }
  // Thin pools take six and a half percent.
  const codes = [1_000n, 935n].map((permille) => {
    const minOutputAmount = (swap.numbers.minOutputAmount * permille) / 1_000n
    const order = { ...swap, orderType: 1n, numbers: { ...swap.numbers, minOutputAmount } }
    const batch = { ...prepared.typedData.batch, createOrderParamsList: [order] }
    const proposal = { batch, relayParams: prepared.relayParams }
    const result = verifyBatch(arbitrum, waits, proposal, policy, nowSeconds())
    return 'kind' in result ? result.code : 'verified'
  })
  expect(codes).toEqual(['verified', 'PRICE_OUT_OF_BOUNDS'])
})

test('fees are signed up to so many times our own estimate, and of what takes risk away up to the highest ones', () => {
  let bounded = 0
  for (const { name, intent, prepared, policy, nowSeconds } of [...payloads, ...delegatedPayloads]) {
    const { batch } = prepared.typedData
    const orders = batch.createOrderParamsList
    const codeOf = (executionFee: bigint | undefined, feeAmount: bigint | undefined) => {
      const createOrderParamsList = orders.map((order) =>
        executionFee === undefined ? order : { ...order, numbers: { ...order.numbers, executionFee } },
      )
      const { fee } = prepared.relayParams
      const relayParams = {
        ...prepared.relayParams,
        fee: { ...fee, feeAmount: feeAmount ?? fee.feeAmount },
      }
      const changed = { ...batch, createOrderParamsList, relayParams: hashRelayParams(relayParams) }
      const result = verifyBatch(arbitrum, intent, { batch: changed, relayParams }, policy, nowSeconds)
      return 'kind' in result ? result.code : 'verified'
    }
    const count = BigInt(Math.max(1, orders.length))
    const [execution, relay] = isAdding(intent)
      ? [10n ** 15n, 5_000_000n]
      : [policy.maxExecutionFee, policy.maxRelayFee]
    if (isAdding(intent)) bounded += 1
    expect(codeOf(undefined, relay * count), name).toBe('verified')
    expect(codeOf(undefined, relay * count + 1n), name).toBe('FEE_ABOVE_LIMIT')
    expect(codeOf(undefined, relay * count * 10n + 1n), name).toBe('TYPED_DATA_MISMATCH')
    if (orders.length === 0) continue
    expect(codeOf(execution, undefined), name).toBe('verified')
    expect(codeOf(execution + 1n, undefined), name).toBe('FEE_ABOVE_LIMIT')
    expect(codeOf(execution * 10n + 1n, undefined), name).toBe('TYPED_DATA_MISMATCH')
  }
  expect(bounded).toBeGreaterThan(50)
})

test('a stop whose price is bounded around its trigger is as good as one that takes any', () => {
  const stop = payloads.find(({ name }) => name === 'ETH long stop-loss')
  const trigger = stop?.prepared.typedData.batch.createOrderParamsList[0]?.numbers.triggerPrice ?? 0n
  expect(codeWith('ETH long stop-loss', 'acceptablePrice', () => (trigger * 99n) / 100n)).toBe('verified')
  expect(codeWith('ETH long stop-loss', 'acceptablePrice', () => (trigger * 95n) / 100n)).toBe(
    'PRICE_OUT_OF_BOUNDS',
  )
})

test('what is armed counts the execution fees of all orders of the message', async () => {
  const twap = payloads.find(({ name }) => name === 'ETH long twap')
  if (twap === undefined) throw new Error('there is no twap')
  const verified = verify(arbitrum, twap.intent, twap.prepared, policy, nowSeconds())
  if ('kind' in verified) throw new Error(verified.code)
  const facts = armedFactsOf(await sign(signer, verified, 1), { host: 'here', warnings: [], leaseEpoch: 1 })
  const [first] = verified.batch.createOrderParamsList
  expect(facts.executionFee).toBe(7n * (first?.numbers.executionFee ?? 0n))
  expect(facts.executionFee).toBeGreaterThan(0n)
})

test('nothing of what the corpus holds was landed by it', () => {
  expect(at.orderManager.open().every(({ state }) => lastAttempt(state)?.phase === 'LANDED')).toBe(true)
})
