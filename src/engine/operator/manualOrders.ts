/**
 * Orders by hand. They take the path of every order: admission, journal, verification, one send. An entry is subject to all limits, halts and budgets
 * of a strategy's order; a close or cancel is an exit, which no halt holds back.
 *
 * Each command has an id from its requester, which determines its order's id: a repeated command, before or after a crash, is the same order, and
 * nothing is done twice.
 */

import { defined } from '../../base/defined.ts'
import type { UnlistedSide } from '../../domain/account/held.ts'
import type {
  CancelDecision,
  CloseDecision,
  Decision,
  DecisionFacts,
  DecreaseDecision,
  ExitRequest,
  IncreaseDecision,
} from '../../domain/order/decision.ts'
import { type Denial, hasEnded, type IntentState, labelOf, lastAttempt } from '../../domain/order/intent.ts'
import { isOpened } from '../../domain/order/orderLegs.ts'
import type { MarketView, Snapshot } from '../../domain/snapshot.ts'
import { accountOf } from '../../execution/context/executionContext.ts'
import { sameHex } from '../../protocol/address.ts'
import { managersOf, managersText, marketsNamed } from '../../protocol/marketName.ts'
import { isOnMarket, type Order, type Position } from '../../protocol/position.ts'
import { BPS_ONE, bps, formatDollars, parseUnits, type Usd, usd } from '../../protocol/units.ts'
import { isDenial } from '../../risk/exposure/admissionContext.ts'
import { intentIdOf } from '../account/ids.ts'
import { sidesWithoutStop } from '../account/stops.ts'
import { OPERATOR } from '../account/tradingHalts.ts'
import type { EngineContext } from '../context/engineContext.ts'
import { marketSymbol } from '../market/marketSymbol.ts'
import { endedOrder } from './endedOrder.ts'
import {
  denied,
  endedAnswer,
  type ManualAnswer,
  type Refusal,
  refusal,
  theOne,
  tradesToo,
} from './manualAnswers.ts'
import {
  askedOf,
  type CancelCommand,
  type CloseCommand,
  type ManualCommand,
  type OpenCommand,
} from './manualCommand.ts'
import { type PreviewContext, previewOf } from './manualPreview.ts'
import { tolerate } from './operatorReads.ts'
import { delistedText } from './unknownMarket.ts'

/** Carries out orders by hand. */
export interface Manual {
  /** Makes the order of a command, or returns the reason why there is none. Throws what reading and the journal throw. */
  carryOut(command: ManualCommand, by: string): Promise<ManualAnswer>
}

/** Parts of the engine that it receives. */
export interface ManualContext
  extends PreviewContext,
    Pick<EngineContext, 'catalogue' | 'delegation' | 'emit' | 'journal' | 'orderManager' | 'signer'> {
  /** False while the account is not read yet. */
  readonly isRunning: () => boolean
  /** Reads a snapshot with these markets and every market with a position or an order. */
  readonly read: (symbols: readonly string[]) => Promise<Snapshot>
  /** Hands a decision of the operator to admission, and the intent to the road. */
  readonly admit: (snapshot: Snapshot, decision: Decision, decisionKey: string) => Promise<Denial | undefined>
}

/** A command as understood: its decision, its snapshot, and its description. */
interface ManualDecision {
  readonly snapshot: Snapshot
  readonly decision: Decision
  readonly symbol: string
  /** `long ETH/USD [WETH-USDC] of $500.00`. */
  readonly words: string
  /** Name of the manager of the remaining position, or another fact that the operator should know. */
  readonly note?: string
  /** It cancels the last stop-loss of a position that is held. */
  readonly isLastStop?: true
}

/** A position, as far as a close needs to know it. */
type HeldRow = Pick<Position, 'marketToken' | 'direction' | 'collateralToken' | 'sizeInUsd'> &
  Partial<Pick<UnlistedSide, 'why'>>

/** Most orders that one message cancels. */
const cancelMost = 20

/** Over the engine's parts. */
export function createManual(context: ManualContext): Manual {
  const { api, emit, journal, orderManager, strategies } = context
  const account = accountOf(context)

  async function open(
    command: OpenCommand,
    facts: DecisionFacts,
    reason: string,
  ): Promise<ManualDecision | Refusal> {
    const all = (await api.getMarkets()).value.filter(({ isListed }) => isListed)
    const gone = delistedText(context.catalogue.standings(), all, command.market)
    if (gone !== undefined) return refusal('MARKET_NOT_LISTED', gone)
    const market = theOne(
      all.filter(({ isSpotOnly }) => !isSpotOnly),
      command.market,
    )
    if ('ok' in market) return market
    const snapshot = await context.read([market.symbol])
    const view = snapshot.markets.get(market.marketToken.toLowerCase())
    if (view === undefined) return refusal('MARKET_UNKNOWN', `${market.symbol} cannot be read now; ask again`)
    const { direction, size, leverage, collateral, limit, stop, takeProfit, stopLoss } = command
    if (Number(leverage) < 1) {
      return refusal(
        'MIN_LEVERAGE',
        `leverage ${leverage}x would pay in more than the position is worth; give --leverage 1 or more, and for less risk a smaller --size`,
      )
    }
    const trigger = limit ?? stop
    const exits: readonly ExitRequest[] = [
      ...(takeProfit === undefined ? [] : [{ type: 'take-profit' as const, triggerPrice: usd(takeProfit) }]),
      ...(stopLoss === undefined ? [] : [{ type: 'stop-loss' as const, triggerPrice: usd(stopLoss) }]),
    ]
    const decision: IncreaseDecision = {
      kind: 'increase',
      marketToken: view.market.marketToken,
      direction,
      sizeDeltaUsd: usd(size),
      leverageBps: Number(parseUnits(leverage, 4)),
      collateralToken: tokenOf(view, collateral),
      orderType: limit !== undefined ? 'limit' : stop !== undefined ? 'stop-market' : 'market',
      ...(trigger === undefined ? {} : { triggerPrice: usd(trigger) }),
      ...(exits.length === 0 ? {} : { tpsl: exits }),
      reason,
      facts,
    }
    const { symbol } = view.market
    const managers = managersOf(strategies(), symbol)
    return {
      snapshot,
      decision,
      symbol,
      words: `${direction} ${symbol} of ${formatDollars(decision.sizeDeltaUsd)}`,
      note: managers.length === 0 ? managersText(managers) : tradesToo(managers),
    }
  }

  async function close(
    command: CloseCommand,
    facts: DecisionFacts,
    reason: string,
  ): Promise<ManualDecision | Refusal> {
    const { direction, shareBps, collateral } = command
    const snapshot = await context.read([])
    const rows = snapshot.positions.value.filter(({ sizeInUsd }) => sizeInUsd > 0n)
    const known = (snapshot.unlisted ?? []).map((side) => ({ ...side, sizeInUsd: side.sizeUsd }))
    const held: readonly HeldRow[] = [...rows, ...known]
    const views = [...snapshot.markets.values()]
    const named = marketsNamed(
      views.map((view) => ({ ...view, symbol: view.market.symbol, marketToken: view.market.marketToken })),
      command.market,
    )
    const found = named.flatMap((view) =>
      held
        .filter(
          (row) =>
            sameHex(row.marketToken, view.marketToken) &&
            row.direction === direction &&
            (collateral === undefined || sameHex(row.collateralToken, tokenOf(view, collateral))),
        )
        .map((position) => ({ view, position })),
    )
    const [one] = found
    const symbolOf = (row: HeldRow): string => marketSymbol(context.catalogue, snapshot, row.marketToken)
    if (one === undefined) {
      const all = held.map((row) => `${row.direction} ${symbolOf(row)}`).join(', ')
      const listed = (await tolerate(api.getMarkets()))?.value.filter(({ isListed }) => isListed)
      const gone =
        listed && delistedText(context.catalogue.standings(), listed, command.market)?.split(':')[0]
      return refusal(
        'POSITION_NOT_FOUND',
        `no ${direction} position is held on ${command.market}${gone === undefined ? '' : ` (${gone})`}; ${all === '' ? 'nothing is held' : `held: ${all}`}`,
      )
    }
    if (found.length > 1) {
      const words = found.map(({ view, position }) => `${view.symbol} on ${backing(view, position)}`)
      return refusal(
        'POSITION_AMBIGUOUS',
        `several positions are meant: ${words.join(', ')}; give the whole symbol, or --collateral long or short`,
      )
    }
    const { view, position } = one
    const { marketToken, collateralToken, sizeInUsd } = position
    const base = { marketToken, direction, collateralToken, reason, facts }
    const decision: CloseDecision | DecreaseDecision =
      shareBps >= BPS_ONE
        ? { kind: 'close', ...base }
        : { kind: 'decrease', sizeDeltaUsd: bps(sizeInUsd, shareBps), keepLeverage: true, ...base }
    const sizeUsd = decision.kind === 'close' ? sizeInUsd : decision.sizeDeltaUsd
    // One that opens nothing, as the guard, does not open it again.
    const openers = managersOf(
      strategies().filter(({ strategy }) => strategy.opensPositions),
      view.symbol,
    )
    return {
      snapshot,
      decision,
      symbol: view.symbol,
      words: `${formatDollars(sizeUsd)} of the ${direction} ${view.symbol} of ${formatDollars(sizeInUsd)}${position.why === undefined ? '' : ` (by what is known of it: ${position.why})`}`,
      ...(openers.length === 0
        ? {}
        : {
            note: `${openers.join(', ')} ${openers.length === 1 ? 'trades' : 'trade'} this market and may open it again (${openers.map((name) => `perpd trading halted --scope ${name}`).join(', ')} keeps ${openers.length === 1 ? 'it' : 'them'} from that)`,
          }),
    }
  }

  async function cancel(
    command: CancelCommand,
    facts: DecisionFacts,
    reason: string,
  ): Promise<ManualDecision | Refusal> {
    const wanted = command.order.toLowerCase()
    const state = wanted.startsWith('0x') ? undefined : openIntent(wanted)
    if (state !== undefined && 'ok' in state) return state
    const keys = restingKeys(state)
    const snapshot = await context.read(state === undefined ? [] : [state.intent.terms.symbol])
    const rows = snapshot.orders.value.filter(({ orderKey }) =>
      state === undefined ? orderKey.toLowerCase().startsWith(wanted) : keys.includes(orderKey.toLowerCase()),
    )
    const [first] = rows
    if (first === undefined) {
      return state === undefined
        ? refusal(
            'ORDER_NOT_FOUND',
            `no order rests at the venue whose key begins with ${wanted}; perpd orders lists them`,
          )
        : refusal(
            'ORDER_NOT_RESTING',
            `${state.intent.intentId} is ${labelOf(state)}: nothing of it is shown to rest at the venue. If it is still to land, unwind it: perpd orders unwind ${state.intent.intentId.slice(0, 8)} --by NAME`,
          )
    }
    if (state === undefined && rows.length > 1) {
      return refusal(
        'ORDER_AMBIGUOUS',
        `the keys of ${rows.length} orders begin with ${wanted}; give more of it`,
      )
    }
    const { direction } = first
    const marketToken = isOnMarket(first)
      ? first.marketToken
      : (state?.intent.terms.marketToken ?? first.marketToken)
    const side = rows.filter(
      (row: Order) => sameHex(row.marketToken, first.marketToken) && row.direction === direction,
    )
    const orderKeys = side.slice(0, cancelMost).map(({ orderKey }) => orderKey)
    const symbol = marketSymbol(context.catalogue, snapshot, marketToken)
    const what = orderKeys.length === 1 ? '1 order' : `${orderKeys.length} orders`
    const isExits = state !== undefined && isOpened(state)
    const bareUsd = leftBare(snapshot, orderKeys)
    const note =
      bareUsd > 0n
        ? `${formatDollars(bareUsd)} of what is held stays open without a stop-loss: while perpd is down nothing but liquidation ends it`
        : isExits
          ? 'the position stays open without these exits'
          : undefined
    return {
      snapshot,
      decision: { kind: 'cancel', marketToken, direction, orderKeys, reason, facts } satisfies CancelDecision,
      symbol,
      words: `${what} of ${direction} ${symbol}`,
      ...defined({ note }),
      ...(bareUsd > 0n ? { isLastStop: true } : {}),
    }
  }

  function openIntent(wanted: string): IntentState | Refusal {
    const found = orderManager.open().filter(({ state }) => state.intent.intentId.startsWith(wanted))
    const [one] = found
    if (one !== undefined && found.length === 1) return one.state
    const problem = one === undefined ? 'no open order has' : `${found.length} open orders have`
    return refusal(
      'ORDER_NOT_FOUND',
      `${problem} an id that begins with ${wanted}; perpd orders --open lists them`,
    )
  }

  /** The order that a command of the same id made before, or a refusal where that command asked for something else. */
  async function madeBefore(decisionKey: string, asked: string): Promise<ManualAnswer | undefined> {
    const made = await journal.intent(intentIdOf(account, OPERATOR, decisionKey))
    if (made === undefined) return undefined
    const { intentId, decision } = made.intent
    if (decision.facts?.asked !== asked) {
      return refusal(
        'ID_USED',
        `this id was used before, for: ${String(decision.facts?.asked)} (order ${intentId}); choose another --id`,
      )
    }
    return {
      ok: true,
      intentId,
      statement: `this was done before, as order ${intentId}, which is ${labelOf(made)}; nothing is done twice`,
    }
  }

  /**
   * Returns a preview of the order as it would be now, with other facts that the operator should know first; for an entry, the quote contains them.
   */
  async function preview(
    { type }: ManualCommand,
    decisionKey: string,
    { snapshot, decision, symbol, words, note, isLastStop }: ManualDecision,
  ): Promise<ManualAnswer> {
    const more = note === undefined || type === 'open' ? '' : `; ${note}`
    const statement = `${type} ${words} would be accepted now${more}`
    if (type !== 'cancel') {
      const quoted = await previewOf(context, { snapshot, decision, decisionKey, symbol })
      return 'ok' in quoted ? quoted : { ok: true, statement, ...quoted }
    }
    const intent = context.judge(snapshot, decision, decisionKey)
    return isDenial(intent) ? denied(intent) : { ok: true, statement, ...(isLastStop ? { isLastStop } : {}) }
  }

  return {
    async carryOut(command, by) {
      const { id, type } = command
      const asked = askedOf(command)
      const decisionKey = `${OPERATOR}#${id}`
      const before = await madeBefore(decisionKey, asked)
      if (before !== undefined) return before
      if (!context.isRunning()) {
        return refusal(
          'NOT_READY',
          'perpd has not read the account yet; ask again in a moment (perpd status)',
        )
      }
      const facts = { asked, by, command: id }
      const reason = `${by} asks for it by hand: ${asked}`
      const ended =
        type === 'cancel' ? endedOrder(await journal.intents(), command.order.toLowerCase()) : undefined
      if (ended !== undefined) return endedAnswer(ended)
      const manual =
        type === 'open'
          ? await open(command, facts, reason)
          : type === 'close'
            ? await close(command, facts, reason)
            : await cancel(command, facts, reason)
      if ('ok' in manual) return manual
      const { snapshot, decision, symbol, words, note } = manual
      if (command.isPreview === true) return await preview(command, decisionKey, manual)
      emit({ type: 'decision.made', strategy: OPERATOR, decisionKey, decision, symbol })
      const denial = await context.admit(snapshot, decision, decisionKey)
      if (denial !== undefined) {
        // Asked twice at once: the other one did it.
        const other = denial.code === 'DUPLICATE_DECISION' ? await madeBefore(decisionKey, asked) : undefined
        if (other !== undefined) return other
        emit({ type: 'decision.denied', strategy: OPERATOR, decisionKey, decision, symbol, denial })
        return denied(denial)
      }
      const intentId = intentIdOf(account, OPERATOR, decisionKey)
      return {
        ok: true,
        intentId,
        statement: `${type} ${words} is accepted as order ${intentId}${note === undefined ? '' : `; ${note}`}`,
      }
    },
  }
}

/** Returns the size of positions that would lose their stop-loss at the venue without these orders, USD. */
function leftBare({ positions, orders }: Snapshot, orderKeys: readonly string[]): Usd {
  const bareUsd = (rows: readonly Order[]) =>
    sidesWithoutStop(positions.value, [], rows).reduce((sum, { uncoveredUsd }) => sum + uncoveredUsd, 0n)
  return bareUsd(orders.value.filter(({ orderKey }) => !orderKeys.includes(orderKey))) - bareUsd(orders.value)
}

function restingKeys(state: IntentState | undefined): readonly string[] {
  const children = state === undefined ? [] : (lastAttempt(state)?.children ?? [])
  return children.filter((child) => !hasEnded(child)).map(({ orderKey }) => orderKey.toLowerCase())
}

function tokenOf(view: MarketView, side: 'long' | 'short') {
  return side === 'long' ? view.longToken.address : view.shortToken.address
}

function backing(view: MarketView, { collateralToken }: HeldRow): string {
  return (
    [view.longToken, view.shortToken].find(({ address }) => sameHex(address, collateralToken))?.symbol ??
    collateralToken
  )
}
