/**
 * The judge's books: what the account is worth at the venue, at the venue's own prices, whatever perpd or a host says. What
 * prices did is told apart from what was paid: fees, price impact, collateral that went elsewhere.
 */
import { ordersOfAccount } from '../../src/paper/prepare/positionRows.ts'
import { accountOf, positionsOfAccount } from '../../src/paper/state/accounts.ts'
import { tokenPrice, type VenueState } from '../../src/paper/state/venueState.ts'
import type { Address } from '../../src/protocol/address.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { formatUsd, type Usd } from '../../src/protocol/units.ts'

/** Orders that hold what they pay while they wait: market and limit swaps, and increases. */
const paying: ReadonlySet<number> = new Set([0, 1, 2, 3, 8])

/** A position as the books keep it. */
interface Held {
  readonly indexToken: string
  readonly isLong: boolean
  readonly sizeInUsd: Usd
  readonly sizeInTokens: bigint
}

/** Everything of the account at one moment, without prices. */
interface Inventory {
  /** Base units by lower-case token: wallet, collateral of positions, what orders hold. */
  readonly tokens: ReadonlyMap<string, bigint>
  readonly positions: readonly Held[]
}

/** A side of a market with its size. */
export interface TrueSide {
  readonly symbol: string
  readonly direction: 'long' | 'short'
  readonly sizeUsd: Usd
}

/** The account's books over time. */
export interface Books {
  /** Takes what is there now; to be called at least once a second of the venue's time. */
  look(): void
  /** Worth at the first look less worth at the last, USD. */
  readonly lostUsd: Usd
  /** Of it what no price did: fees, impact, and what went to others. */
  readonly paidUsd: Usd
  /** The largest `paidUsd` so far: what comes back of a fee hides nothing. */
  readonly worstPaidUsd: Usd
  /** The largest loss so far that reductions and liquidations realized, less the funding that was put aside, USD: what a day's limit is of. */
  readonly realizedUsd: Usd
  /** True sides, with the collateral tokens of a side together. */
  sides(): readonly TrueSide[]
  /** One line of what is there. */
  text(): string
}

/** Opens the books of an account. */
export function createBooks(venueState: VenueState, account: Address): Books {
  const seconds = (): number => Math.floor(venueState.clock.now() / 1000)
  const priceOf = (tokenKey: string, atSeconds: number): bigint => {
    const token = venueState.catalog.tokenByAddress.get(tokenKey)
    if (token === undefined) return 0n
    const { min, max } = tokenPrice(venueState, token, atSeconds)
    return (min + max) / 2n
  }

  function inventory(): Inventory {
    const tokens = new Map<string, bigint>()
    const add = (token: string, amount: bigint): void => {
      const key = hexKey(token)
      tokens.set(key, (tokens.get(key) ?? 0n) + amount)
    }
    const { balances, claimableFunding, claimableCollateral } = accountOf(venueState, account)
    // What is claimable is by market and token.
    for (const map of [balances, claimableFunding, claimableCollateral])
      for (const [key, amount] of map) add(key.split(':').at(-1) ?? key, amount)
    const wrapped = venueState.chain.contracts.wrappedNative
    for (const { params } of ordersOfAccount(venueState, account)) {
      if (paying.has(Number(params.orderType)))
        add(params.addresses.initialCollateralToken, params.numbers.initialCollateralDeltaAmount)
      add(wrapped, params.numbers.executionFee)
    }
    const positions = positionsOfAccount(venueState, account).map((record): Held => {
      const market = venueState.marketByKey.get(record.marketKey)
      if (market === undefined) throw new RangeError(`position in unknown market ${record.marketKey}`)
      const { collateralAmount, side, sizeInUsd, sizeInTokens, pendingImpactAmount } = record.state
      add(record.collateralToken.address, collateralAmount)
      const isLong = side === 'long'
      // What impact is kept for the close counts at once, at our cost alone.
      const impact = pendingImpactAmount < 0n ? pendingImpactAmount : 0n
      return {
        indexToken: hexKey(market.indexToken.address),
        isLong,
        sizeInUsd,
        sizeInTokens: sizeInTokens + (isLong ? impact : -impact),
      }
    })
    return { tokens, positions }
  }

  function worth({ tokens, positions }: Inventory, atSeconds: number): Usd {
    let sum = 0n
    for (const [token, amount] of tokens) sum += amount * priceOf(token, atSeconds)
    for (const { indexToken, isLong, sizeInUsd, sizeInTokens } of positions) {
      const now = sizeInTokens * priceOf(indexToken, atSeconds)
      sum += isLong ? now - sizeInUsd : sizeInUsd - now
    }
    return sum
  }

  function putAside(atSeconds: number): Usd {
    const { claimableFunding } = accountOf(venueState, account)
    return [...claimableFunding].reduce(
      (sum, [key, amount]) => sum + amount * priceOf(key.split(':').at(-1) ?? key, atSeconds),
      0n,
    )
  }

  const first = worth(inventory(), seconds())
  let last = { inventory: inventory(), worthUsd: first }
  let movedUsd = 0n
  let worstPaidUsd = 0n
  let worstRealizedUsd = 0n
  let tradesSeen = 0
  let realizedUsd = 0n
  const lost = (): Usd => first - last.worthUsd
  const paid = (): Usd => lost() + movedUsd

  return {
    look() {
      const atSeconds = seconds()
      movedUsd += worth(last.inventory, atSeconds) - last.worthUsd
      const now = inventory()
      last = { inventory: now, worthUsd: worth(now, atSeconds) }
      if (paid() > worstPaidUsd) worstPaidUsd = paid()
      for (; tradesSeen < venueState.trades.length; tradesSeen += 1) {
        const { account: whose, eventName, fields } = venueState.trades[tradesSeen] ?? {}
        if (whose === undefined || hexKey(whose) !== hexKey(account) || eventName !== 'OrderExecuted')
          continue
        if (typeof fields?.pnlUsd === 'bigint') realizedUsd -= fields.pnlUsd
        // Swaps are of one pool here: their fee and their impact are what they cost.
        for (const cost of [
          fields?.swapFeeUsd,
          fields?.swapImpactUsd === undefined ? undefined : -(fields.swapImpactUsd as bigint),
        ])
          if (typeof cost === 'bigint' && fields?.pnlUsd === undefined) realizedUsd += cost
      }
      // Funding that was put aside is realized too, and in no figure of a trade.
      const lostNowUsd = realizedUsd - putAside(atSeconds)
      if (lostNowUsd > worstRealizedUsd) worstRealizedUsd = lostNowUsd
    },
    get lostUsd() {
      return lost()
    },
    get paidUsd() {
      return paid()
    },
    get worstPaidUsd() {
      return worstPaidUsd
    },
    get realizedUsd() {
      return worstRealizedUsd
    },
    sides() {
      const sides = new Map<string, TrueSide>()
      for (const record of positionsOfAccount(venueState, account)) {
        const symbol = venueState.marketByKey.get(record.marketKey)?.catalog.symbol ?? record.marketKey
        const { side: direction, sizeInUsd } = record.state
        const key = `${symbol} ${direction}`
        sides.set(key, { symbol, direction, sizeUsd: (sides.get(key)?.sizeUsd ?? 0n) + sizeInUsd })
      }
      return [...sides.values()]
    },
    text() {
      const sides = this.sides().map(
        ({ symbol, direction, sizeUsd }) => `${symbol} ${direction} ${formatUsd(sizeUsd)}`,
      )
      return `lost ${formatUsd(lost())}, paid ${formatUsd(paid())}, holds ${sides.join(', ') || 'nothing'}`
    },
  }
}
